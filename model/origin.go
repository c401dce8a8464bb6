package model

import (
	"strings"
	"time"
)

// Origin is an item's writer according to its store. Every word of it is the store's and hostile; none of it
// is proof.
type Origin struct {
	Actor   string
	Session string
	// Channel is user, tool, web or agent, where the store's own word means one of them; empty: only that
	// somebody wrote is known.
	Channel string
	Detail  string    // the store's own words: a class, a file and line, a tool
	At      time.Time // zero: unknown to the store
}

// MetaOrigin makes a Store.Origin that reads metadata: from maps a store's field names to their meaning, one
// of actor, session, channel, detail and at (RFC 3339).
func MetaOrigin(from map[string]string) func(Item) (Origin, bool) {
	return func(it Item) (Origin, bool) {
		var o Origin
		for _, f := range it.Meta {
			if f.Value == "" || f.Value == "unknown" {
				continue
			}
			switch from[f.Name] {
			case "actor":
				o.Actor = f.Value
			case "session":
				o.Session = f.Value
			case "channel":
				o.Channel = ChannelOf(f.Value)
				if o.Channel == "" {
					o.add(f.Name + " " + f.Value)
				}
			case "detail":
				o.add(f.Value)
			case "at":
				if at, err := time.Parse(time.RFC3339, f.Value); err == nil {
					o.At = at
				}
			}
		}
		return o, o != Origin{At: o.At}
	}
}

func (o *Origin) add(detail string) {
	if o.Detail != "" {
		o.Detail += " "
	}
	o.Detail += detail
}

// ChannelOf is the channel that a store's word for a writer means; empty for any other word.
func ChannelOf(word string) string {
	switch strings.ToLower(word) {
	case "user", "owner":
		return "user"
	case "agent", "assistant":
		return "agent"
	case "tool", "web":
		return strings.ToLower(word)
	}
	return ""
}
