package sshd

import (
	"testing"

	"golang.org/x/crypto/ssh"
)

// requested is a channel whose client sends requests.
type requested struct {
	ssh.NewChannel
	requests chan *ssh.Request
}

func (r requested) Accept() (ssh.Channel, <-chan *ssh.Request, error) { return nil, r.requests, nil }

// TestTheConsoleBeginsWithTheNewestSize: a window may change its size before the session has read the terminal. The
// library must not get a size before that, and the console must learn of the last one.
func TestTheConsoleBeginsWithTheNewestSize(t *testing.T) {
	client, read := requested{requests: make(chan *ssh.Request)}, make(chan struct{})
	_, passed, err := filtered{client, read}.Accept()
	if err != nil {
		t.Fatal(err)
	}
	send := func(kind, payload string) { client.requests <- &ssh.Request{Type: kind, Payload: []byte(payload)} }
	want := func(what string) {
		t.Helper()
		if r := <-passed; r.Type+string(r.Payload) != what {
			t.Errorf("passed %s%s, want %s", r.Type, r.Payload, what)
		}
	}
	send("pty-req", "")
	want("pty-req")
	send("window-change", "1")
	send("window-change", "2")
	send("shell", "")
	want("shell")
	send("window-change", "3")
	close(read)
	want("window-change3")
	send("window-change", "4")
	want("window-change4")
	close(client.requests)
	if r, ok := <-passed; ok {
		t.Errorf("passed %s at the end", r.Type)
	}
}
