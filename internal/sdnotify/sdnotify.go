// Package sdnotify reports the state of a service to systemd by the protocol of sd_notify(3). Without
// NOTIFY_SOCKET it says nothing.
package sdnotify

import (
	"net"
	"strings"
)

// The states of a service.
const (
	Ready    = "READY=1"
	Stopping = "STOPPING=1"
)

// Send reports a state to the service manager, or several separated by line ends. Where env has no
// NOTIFY_SOCKET nobody listens, which is no error.
func Send(env func(string) string, state string) error {
	name := env("NOTIFY_SOCKET")
	if name == "" {
		return nil
	}
	if rest, abstract := strings.CutPrefix(name, "@"); abstract {
		name = "\x00" + rest
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Write([]byte(state))
	return err
}
