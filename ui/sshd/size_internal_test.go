package sshd

import (
	"slices"
	"testing"

	"golang.org/x/crypto/ssh"
)

// requested is a channel on which a client makes some requests.
type requested struct {
	ssh.NewChannel
	requests []*ssh.Request
}

func (r requested) Accept() (ssh.Channel, <-chan *ssh.Request, error) {
	out := make(chan *ssh.Request, len(r.requests))
	for _, q := range r.requests {
		out <- q
	}
	close(out)
	return nil, out, nil
}

// TestTheConsoleBeginsWithTheNewestSize: a window may change its size before the shell, and the console must learn of the
// last change.
func TestTheConsoleBeginsWithTheNewestSize(t *testing.T) {
	var client requested
	for _, r := range [][2]string{{"pty-req", ""}, {"window-change", "1"}, {"window-change", "2"}, {"shell", ""}, {"window-change", "3"}} {
		client.requests = append(client.requests, &ssh.Request{Type: r[0], Payload: []byte(r[1])})
	}
	_, passed, err := filtered{client}.Accept()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for r := range passed {
		got = append(got, r.Type+string(r.Payload))
	}
	if want := []string{"pty-req", "shell", "window-change2", "window-change3"}; !slices.Equal(got, want) {
		t.Errorf("passed %q, want %q", got, want)
	}
}
