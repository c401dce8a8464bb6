package sshd

import "testing"

// TestARefusedSessionHoldsNoSeat: while sessions of a key with its full share are being refused, another key must
// always find the seat that is left to it.
func TestARefusedSessionHoldsNoSeat(t *testing.T) {
	s := &Server{seat: make(chan struct{}, 4), held: map[string]int{}}
	for range 3 {
		if _, err := s.sit("ana", true); err != nil {
			t.Fatal(err)
		}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := s.sit("ana", true); err == nil {
				t.Error("one key has a fourth session")
				return
			}
		}
	}()
	for i := range 20_000 {
		leave, err := s.sit("ben", true)
		if err != nil {
			t.Errorf("the other key, in try %d: %v", i, err)
			break
		}
		leave()
	}
	close(stop)
	<-stopped
}
