package postgres_test

import (
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/postgres"
	"memdesk/internal/testpg"
	"memdesk/model"
)

// turnstile forwards connections to a server and counts how often the client sends after the server has sent.
type turnstile struct {
	mu     sync.Mutex
	client bool // the client sent last
	trips  int
}

func (c *turnstile) spoke(client bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if client && !c.client {
		c.trips++
	}
	c.client = client
}

// count returns the number of round trips that fn makes.
func (c *turnstile) count(fn func()) int {
	c.mu.Lock()
	before := c.trips
	c.mu.Unlock()
	fn()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trips - before
}

// through returns the same database's address behind the turnstile.
func (c *turnstile) through(t *testing.T, dsn string) string {
	cfg, err := pgx.ParseConfig(dsn)
	must(t, err)
	network, address := pgconn.NetworkAddress(cfg.Host, cfg.Port)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial(network, address)
			if err != nil {
				client.Close()
				return
			}
			go c.pump(client, server, true)
			go c.pump(server, client, false)
		}
	}()
	at := l.Addr().(*net.TCPAddr)
	return fmt.Sprintf("host=127.0.0.1 port=%d user=%s dbname=%s sslmode=disable", at.Port, cfg.User, cfg.Database)
}

func (c *turnstile) pump(from, to net.Conn, client bool) {
	defer to.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			c.spoke(client)
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			if err != io.EOF {
				from.Close()
			}
			return
		}
	}
}

// TestRoundTrips bounds the round trips of each operation.
func TestRoundTrips(t *testing.T) {
	srv := testpg.New(t)
	var count turnstile
	cfg := postgres.Config{DSN: model.NewSecret(count.through(t, srv.DSN("postgres", "postgres"))), Workspace: "w", MaxConns: 1}
	db, err := postgres.Create(t.Context(), cfg)
	must(t, err)
	s := hypergraph.Adapt(hypergraph.Config{Name: "db", Kind: "postgres", Backend: db})
	t.Cleanup(func() { s.Close() })
	for i := range 50 {
		must(t, db.CreateNode(t.Context(), fact(fmt.Sprint("n", i), fmt.Sprintf("an ordinary text, number %d", i))))
	}
	must(t, db.CreateNode(t.Context(), fact("rare", "a quokka in the harbour")))
	must(t, db.CreateEdge(t.Context(), hypergraph.Edge{ID: "e", Type: "relation", Label: "of the wombat", Weight: 1,
		Members: []hypergraph.Membership{{NodeID: "n1", Role: "subject"}, {NodeID: "n2", Role: "object"}}}))
	recall := func(query string, hits int) func() {
		return func() {
			res, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: query})
			if err != nil || len(res.Hits) != hits {
				t.Errorf("recall of %q: %+v, %v", query, res.Hits, err)
			}
		}
	}
	read := func() {
		if _, err := db.GetNode(t.Context(), "rare"); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		what string
		do   func()
		most int
	}{
		{"recall of a rare word", recall("quokka", 1), 2},
		{"recall of more matches than are read whole", recall("ordinary text", 20), 3},
		{"a node read by its id", read, 1},
	} {
		c.do() // the first call prepares the statements
		if n := count.count(c.do); n > c.most {
			t.Errorf("%s takes %d round trips, want %d at most", c.what, n, c.most)
		}
	}
}
