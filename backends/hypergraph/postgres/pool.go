package postgres

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/puddle/v2"
)

const (
	// poolTended is how often idle connections are looked at.
	poolTended = time.Minute
	// poolTrusted is how long after its last use a connection is given out without
	// asking whether the server is still there.
	poolTrusted = time.Second
	// poolCloses bounds the farewell of one connection.
	poolCloses = 15 * time.Second
)

// pool keeps connections for a store. It is safe for concurrent use.
type pool struct {
	conns    *puddle.Pool[*conn]
	dialing  dialing
	min, max int

	stop  context.CancelFunc
	ended sync.WaitGroup
}

// newPool connects nothing yet but what min asks for, which is done in the background.
// setup readies every new connection.
func newPool(d dialing, min, max int, setup func(context.Context, *conn) error) (*pool, error) {
	ctx, stop := context.WithCancel(context.Background())
	p := &pool{dialing: d, min: min, max: max, stop: stop}
	var err error
	p.conns, err = puddle.NewPool(&puddle.Config[*conn]{
		MaxSize: int32(max),
		Constructor: func(ctx context.Context) (*conn, error) {
			c, err := dial(ctx, d)
			if err != nil {
				return nil, err
			}
			if err := setup(ctx, c); err != nil {
				c.close(ctx)
				return nil, err
			}
			// Not all at once: a pool that was filled in one moment empties bit by bit.
			c.life = lifeTime + rand.N(lifeTime/10)
			return c, nil
		},
		Destructor: func(c *conn) {
			ctx, cancel := context.WithTimeout(context.Background(), poolCloses)
			defer cancel()
			c.close(ctx)
			select {
			case <-c.pg.CleanupDone():
			case <-ctx.Done():
			}
		},
	})
	if err != nil {
		stop()
		return nil, err
	}
	p.ended.Go(func() { p.tend(ctx) })
	return p, nil
}

// close waits for the connections that are in use, and ends all.
func (p *pool) close() {
	p.stop()
	p.ended.Wait()
	p.conns.Close()
}

// use implements runner: fn has a connection to itself until it returns.
func (p *pool) use(ctx context.Context, fn func(*conn) error) error {
	res, err := p.acquire(ctx)
	if err != nil {
		return err
	}
	defer p.release(res)
	return fn(res.Value())
}

// acquire gives out a connection on which the server has answered just now. The
// caller releases it.
func (p *pool) acquire(ctx context.Context) (*puddle.Resource[*conn], error) {
	for range p.max + 1 { // each of them may be dead, and then a new one
		res, err := p.conns.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		c := res.Value()
		switch {
		case expired(res):
		case res.IdleDuration() <= poolTrusted || c.pg.Ping(ctx) == nil:
			return res, nil
		}
		res.Destroy()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return nil, errPoolDead
}

// errPoolDead is a server that ends every connection at once.
var errPoolDead = fmt.Errorf("every connection is dead: %w", io.ErrUnexpectedEOF)

func expired(res *puddle.Resource[*conn]) bool {
	return time.Since(res.CreationTime()) > res.Value().life
}

// release gives a connection back, unless it is closed, busy, too old or still inside
// a transaction.
func (p *pool) release(res *puddle.Resource[*conn]) {
	c := res.Value()
	if c.pg.IsClosed() || c.pg.IsBusy() || c.pg.TxStatus() != txNone || expired(res) {
		res.Destroy()
		return
	}
	res.Release()
}

// tend ends connections that are idle or old and keeps the least number, until ctx
// ends.
func (p *pool) tend(ctx context.Context) {
	tick := time.NewTicker(poolTended)
	defer tick.Stop()
	for {
		for range p.min - int(p.conns.Stat().TotalResources()) {
			if p.conns.CreateResource(ctx) != nil { // whoever needs one hears why
				break
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		all := int(p.conns.Stat().TotalResources())
		for _, res := range p.conns.AcquireAllIdle() {
			switch {
			case expired(res), res.IdleDuration() > idleTime && all > p.min:
				res.Destroy()
				all--
			default:
				res.ReleaseUnused()
			}
		}
	}
}
