package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	session = 2 * time.Second
	topic   = "shared"
	group   = "sharing"
)

// A gate stands between a client and its broker. While it is closed nothing passes, as in a process that is stopped.
type gate struct {
	mutex  sync.Mutex
	open   *sync.Cond
	closed bool
	dead   bool
}

func newGate() *gate {
	g := &gate{}
	g.open = sync.NewCond(&g.mutex)
	return g
}

func (g *gate) set(closed, dead bool) {
	g.mutex.Lock()
	g.closed, g.dead = closed, dead
	g.mutex.Unlock()
	g.open.Broadcast()
}

var errDead = errors.New("this process has been killed")

// pass waits until the gate is open; an error for one that will not open again.
func (g *gate) pass() error {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for g.closed && !g.dead {
		g.open.Wait()
	}
	if g.dead {
		return errDead
	}
	return nil
}

type gatedConn struct {
	net.Conn
	gate *gate
}

func (c gatedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if shut := c.gate.pass(); shut != nil {
		return 0, shut
	}
	return n, err
}

func (c gatedConn) Write(b []byte) (int, error) {
	if shut := c.gate.pass(); shut != nil {
		return 0, shut
	}
	return c.Conn.Write(b)
}

// What all members together have seen.
type work struct {
	mutex sync.Mutex
	seen  map[string]int
}

func (w *work) done() int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return len(w.seen)
}

// A member works until it leaves or is killed.
type member struct {
	client *kgo.Client
	gate   *gate
	cancel context.CancelFunc
	ended  chan struct{}
	mutex  sync.Mutex
	owned  map[int32]bool
	given  int // how many times it was given partitions
}

func join(seed string, w *work, options ...kgo.Opt) *member {
	m := &member{gate: newGate(), ended: make(chan struct{}), owned: map[int32]bool{}}
	take := func(change func(partition int32), partitions map[string][]int32) {
		m.mutex.Lock()
		defer m.mutex.Unlock()
		for _, partition := range partitions[topic] {
			change(partition)
		}
	}
	lose := func(partition int32) { delete(m.owned, partition) }
	options = append([]kgo.Opt{
		kgo.SeedBrokers(seed), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit(),
		kgo.SessionTimeout(session), kgo.HeartbeatInterval(200 * time.Millisecond),
		kgo.RebalanceTimeout(5 * time.Second), kgo.BlockRebalanceOnPoll(), kgo.MetadataMinAge(100 * time.Millisecond),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(200 * time.Millisecond),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
			take(func(partition int32) { m.owned[partition] = true; m.given++ }, partitions)
		}),
		kgo.OnPartitionsRevoked(func(ctx context.Context, client *kgo.Client, partitions map[string][]int32) {
			// What was worked on is committed before somebody else goes on from there.
			_ = client.CommitUncommittedOffsets(ctx)
			take(lose, partitions)
		}),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
			take(lose, partitions)
		}),
		kgo.Dialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			if shut := m.gate.pass(); shut != nil {
				return nil, shut
			}
			conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, network, address)
			return gatedConn{conn, m.gate}, err
		}),
	}, options...)
	client, err := kgo.NewClient(options...)
	must(err)
	m.client = client
	var ctx context.Context
	ctx, m.cancel = context.WithCancel(context.Background())
	go m.run(ctx, w)
	return m
}

func (m *member) run(ctx context.Context, w *work) {
	defer close(m.ended)
	for ctx.Err() == nil && m.gate.pass() == nil {
		poll, done := context.WithTimeout(ctx, 300*time.Millisecond)
		fetches := m.client.PollFetches(poll)
		done()
		w.mutex.Lock()
		fetches.EachRecord(func(record *kgo.Record) { w.seen[string(record.Value)]++ })
		w.mutex.Unlock()
		if m.gate.pass() == nil && fetches.NumRecords() > 0 {
			_ = m.client.CommitUncommittedOffsets(ctx)
		}
		m.client.AllowRebalance()
	}
}

// share is what it has now.
func (m *member) share() int {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return len(m.owned)
}

func (m *member) timesGiven() int {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.given
}

// leave says goodbye; a static member keeps its place.
func (m *member) leave() {
	m.cancel()
	<-m.ended
	m.client.CloseAllowingRebalance()
}

// kill ends it without a word.
func (m *member) kill() {
	m.gate.set(true, true)
	m.cancel()
	<-m.ended
	go m.client.CloseAllowingRebalance()
}

func must(err error) {
	if err != nil {
		panic(fmt.Sprint("unexpected: ", err))
	}
}

// soon tries again for half a minute.
func soon(what string, holds func() bool) {
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			panic("not within 30 s: " + what)
		}
	}
}
