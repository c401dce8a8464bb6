package model

import (
	"strings"
	"time"
)

// Origin is who wrote an item, as its store itself knows it. Every word of it is the
// store's and hostile; none of it is proof.
type Origin struct {
	Actor   string
	Session string
	// Channel is user, tool, web or agent, where the store's own word means one of them;
	// empty: it tells no more than that somebody wrote.
	Channel string
	Detail  string    // the store's own words: a class, a file and line, a tool
	At      time.Time // zero: the store does not say
}

// MetaOrigin makes a Store.Origin of metadata: from maps the field names of a store to
// what they mean, one of actor, session, channel, detail and at (RFC 3339).
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

// ChannelOf is the channel that a store's word for a writer means; empty for any other.
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
