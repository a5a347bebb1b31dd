// Members of a consumer group on franz-go come, go, crash and pause while records flow.
package main

import (
	"context"
	"fmt"
	"os"
	"sort"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const partitions = 6

func main() {
	if len(os.Args) != 3 {
		fmt.Println("usage: compat BOOTSTRAP range|roundrobin|sticky|cooperative|static")
		os.Exit(2)
	}
	seed, scenario := os.Args[1], os.Args[2]
	create(seed)
	start := time.Now()
	balancers := map[string]kgo.GroupBalancer{
		"range": kgo.RangeBalancer(), "roundrobin": kgo.RoundRobinBalancer(), "sticky": kgo.StickyBalancer(),
		"cooperative": kgo.CooperativeStickyBalancer(),
	}
	if balancer, ok := balancers[scenario]; ok {
		churn(seed, kgo.Balancers(balancer))
	} else if scenario == "static" {
		static(seed)
	} else {
		panic("no such scenario: " + scenario)
	}
	fmt.Printf("franz-go, %s: ok (%d ms)\n", scenario, time.Since(start).Milliseconds())
}

func create(seed string) {
	client, err := kgo.NewClient(kgo.SeedBrokers(seed))
	must(err)
	defer client.Close()
	request := kmsg.NewPtrCreateTopicsRequest()
	one := kmsg.NewCreateTopicsRequestTopic()
	one.Topic, one.NumPartitions, one.ReplicationFactor = topic, partitions, 1
	request.Topics = append(request.Topics, one)
	response, err := request.RequestWith(context.Background(), client)
	must(err)
	must(kerr.ErrorForCode(response.Topics[0].ErrorCode))
}

// flow sends records until it is told to stop, and then says how many were acknowledged.
func flow(seed string, stop <-chan struct{}) <-chan int {
	sent := make(chan int, 1)
	client, err := kgo.NewClient(kgo.SeedBrokers(seed), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	must(err)
	go func() {
		defer client.Close()
		for n := 0; ; n++ {
			select {
			case <-stop:
				sent <- n
				return
			case <-time.After(2 * time.Millisecond):
			}
			record := &kgo.Record{Topic: topic, Partition: int32(n % partitions), Value: []byte(fmt.Sprint("v", n))}
			must(client.ProduceSync(context.Background(), record).FirstErr())
		}
	}()
	return sent
}

func settle(sizes []int, members ...*member) {
	soon(fmt.Sprint("shares of ", sizes), func() bool {
		var now []int
		for _, m := range members {
			now = append(now, m.share())
		}
		sort.Ints(now)
		return fmt.Sprint(now) == fmt.Sprint(sizes)
	})
}

func churn(seed string, how kgo.Opt) {
	w := &work{seen: map[string]int{}}
	stop := make(chan struct{})
	sent := flow(seed, stop)
	a := join(seed, w, how)
	settle([]int{6}, a)
	b, c := join(seed, w, how), join(seed, w, how)
	settle([]int{2, 2, 2}, a, b, c)
	b.leave()
	settle([]int{3, 3}, a, c)
	b = join(seed, w, how)
	settle([]int{2, 2, 2}, a, b, c)
	c.kill()
	settle([]int{3, 3}, a, b)
	// One that is stopped for longer than its session loses all; when it goes on it joins again.
	a.gate.set(true, false)
	settle([]int{6}, b)
	a.gate.set(false, false)
	settle([]int{3, 3}, a, b)
	close(stop)
	finish(seed, w, <-sent, a, b)
}

// A static member restarts within its session, and nobody else notices.
func static(seed string) {
	w := &work{seen: map[string]int{}}
	stop := make(chan struct{})
	sent := flow(seed, stop)
	named := func(name string) *member {
		return join(seed, w, kgo.InstanceID(name), kgo.Balancers(kgo.RangeBalancer()), kgo.SessionTimeout(6*time.Second))
	}
	a, b := named("a"), named("b")
	settle([]int{3, 3}, a, b)
	before := b.timesGiven()
	a.leave()
	a = named("a")
	settle([]int{3, 3}, a, b)
	if b.timesGiven() != before {
		panic("a static member's restart was a rebalance")
	}
	a.kill()
	settle([]int{6}, b)
	close(stop)
	finish(seed, w, <-sent, b)
}

// Every record has been seen, and what is committed is the end of every partition.
func finish(seed string, w *work, sent int, members ...*member) {
	soon(fmt.Sprint(sent, " records seen"), func() bool { return w.done() == sent })
	for _, m := range members {
		m.leave()
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(seed))
	must(err)
	defer client.Close()
	request := kmsg.NewPtrOffsetFetchRequest()
	request.Group = group
	response, err := request.RequestWith(context.Background(), client)
	must(err)
	total := 0
	for _, one := range response.Topics {
		for _, partition := range one.Partitions {
			total += int(partition.Offset)
		}
	}
	if total != sent {
		panic(fmt.Sprint("committed ", total, " of ", sent))
	}
}
