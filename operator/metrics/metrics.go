// Package metrics keeps the Prometheus metrics of one desk: the health and content of the stores, the work
// that waits for an operator, the state of the audit log. No label names an item, a person or a caller.
package metrics

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"memdesk/gdpr"
	"memdesk/internal/clock"
	"memdesk/internal/counts"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
)

// Meters are the metrics of one desk. Each part is replaced as a whole by its own goroutine.
type Meters struct {
	session  *operator.Session
	clock    clock.Clock
	mu       sync.Mutex // a scrape reads a metric before its values are replaced, or after
	registry *prometheus.Registry

	up, latency                            *prometheus.GaugeVec
	items, bytes, capBytes, capUse         *prometheus.GaugeVec
	quarantined, conflicts                 *prometheus.GaugeVec
	requests                               *prometheus.GaugeVec
	nextDeadline, records, writable        prometheus.Gauge
	anchorAge, anchorBehind, anchorTrouble *prometheus.GaugeVec
	lookedAt, lookTook, lookFailed         *prometheus.GaugeVec
}

// New makes the metrics of a session's stores. calls is the file in which doors count their calls,
// empty where there is none.
func New(s *operator.Session, clk clock.Clock, calls string) *Meters {
	m := &Meters{session: s, clock: clk, registry: prometheus.NewRegistry()}
	vec := func(name, help string, labels ...string) *prometheus.GaugeVec {
		v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "memdesk", Name: name, Help: help}, labels)
		m.registry.MustRegister(guarded{v, &m.mu})
		return v
	}
	one := func(name, help string) prometheus.Gauge {
		v := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "memdesk", Name: name, Help: help})
		m.registry.MustRegister(v)
		return v
	}
	m.up = vec("store_up", "1 when the store can retain and recall, 0 when it cannot; one series for its state.", "store", "kind", "state")
	m.latency = vec("store_health_seconds", "How long the store's answer about its health took.", "store")
	m.items = vec("tier_items", "Items of a tier.", "store", "tier")
	m.bytes = vec("tier_bytes", "Bytes of the items of a tier.", "store", "tier")
	m.capBytes = vec("tier_cap_bytes", "The largest size of one item of a tier, where the tier has a cap in bytes.", "store", "tier")
	m.capUse = vec("tier_cap_use_ratio", "Size of the tier's largest item as a part of the cap.", "store", "tier")
	m.quarantined = vec("quarantined", "Items in quarantine.", "store")
	m.conflicts = vec("conflicts", "Second copies and items with merge markers.", "store")
	m.requests = vec("requests", "Erasure requests with work left, by state.", "state", "overdue")
	m.nextDeadline = one("request_next_deadline_timestamp_seconds", "The first deadline among requests with work left; 0 without any.")
	m.records = one("audit_records", "Number of the newest record of the audit log.")
	m.writable = one("audit_writable", "1 when acts can be recorded, 0 when nothing can be changed for want of a log.")
	m.anchorAge = vec("audit_anchor_age_seconds", "Age of the newest checkpoint that the anchor has taken; +Inf: it has none.", "anchor")
	m.anchorBehind = vec("audit_anchor_behind_records", "Records that the anchor's newest checkpoint does not cover.", "anchor")
	m.anchorTrouble = vec("audit_anchor_trouble", "1 when the newest try failed, 2 when a witness has raised an alarm.", "anchor")
	m.lookedAt = vec("look_timestamp_seconds", "When a part was last looked at.", "part")
	m.lookTook = vec("look_seconds", "How long the last look at a part took.", "part")
	m.lookFailed = vec("look_incomplete", "Stores, or other places, that the last look at a part could not see to the end: its values are lower bounds.", "part")
	m.registry.MustRegister(callsCollector{calls},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler answers a scrape.
func (m *Meters) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Run refreshes every part until ctx ends, with a pause between two refreshes.
func (m *Meters) Run(ctx context.Context, every time.Duration) {
	var wg sync.WaitGroup
	for part, look := range m.parts(m.session.Survey(ctx)) {
		wg.Go(func() { m.look(ctx, part, every, look) })
	}
	wg.Wait()
}

// parts are refreshed separately, so that a slow one delays no other. A refresh returns the number of stores
// that it could not read to the end.
func (m *Meters) parts(v *operator.Survey) map[string]func(context.Context) int {
	return map[string]func(context.Context) int{
		"health":     func(ctx context.Context) int { return m.health(ctx, v) },
		"tiers":      func(ctx context.Context) int { return m.tiers(ctx, v) },
		"quarantine": func(ctx context.Context) int { return m.quarantine(ctx, v) },
		"conflicts":  func(ctx context.Context) int { return m.copies(ctx, v) },
		"requests":   func(context.Context) int { return m.due(v) },
		"log":        func(ctx context.Context) int { return m.log(ctx, v) },
	}
}

// look refreshes one part until ctx ends.
func (m *Meters) look(ctx context.Context, part string, every time.Duration, look func(context.Context) int) {
	for {
		start := time.Now()
		missed := look(ctx)
		took := time.Since(start)
		if ctx.Err() != nil {
			return
		}
		m.lookFailed.WithLabelValues(part).Set(float64(missed))
		m.lookTook.WithLabelValues(part).Set(took.Seconds())
		m.lookedAt.WithLabelValues(part).Set(seconds(m.clock.Now()))
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(every, took)):
		}
	}
}

// maxLabel bounds a text in a label, in bytes.
const maxLabel = 120

// label is text of a store as a label. Names of tiers can come from data.
func label(s string) string { return safetext.Escaper{ASCII: true}.LineMax(s, maxLabel).String() }

func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

// guarded is a metric that is not read while its values are replaced.
type guarded struct {
	*prometheus.GaugeVec
	mu *sync.Mutex
}

// Collect implements prometheus.Collector.
func (g guarded) Collect(out chan<- prometheus.Metric) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.GaugeVec.Collect(out)
}

// series are the values of one metric by their labels.
type series struct {
	vec    *prometheus.GaugeVec
	values map[string]float64
}

func seriesOf(vec *prometheus.GaugeVec) *series { return &series{vec, map[string]float64{}} }

func (s *series) add(n float64, labels ...string) { s.values[strings.Join(labels, "\x00")] += n }

// replace sets all values of some metrics; vanished ones are not shown any more.
func (m *Meters) replace(all ...*series) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range all {
		s.vec.Reset()
		for key, n := range s.values {
			s.vec.WithLabelValues(strings.Split(key, "\x00")...).Set(n)
		}
	}
}

func (m *Meters) health(ctx context.Context, v *operator.Survey) (missed int) {
	up, latency := seriesOf(m.up), seriesOf(m.latency)
	kinds := map[string]string{}
	for _, member := range m.session.Fleet.Members() {
		kinds[member.Name] = member.Kind
	}
	for _, r := range v.Health(ctx) {
		n := 0.0
		if r.Status.OK {
			n = 1
		}
		if r.Status.State == model.HealthUnknown {
			missed++
		}
		up.add(n, r.Store, kinds[r.Store], string(r.Status.State))
		latency.add(r.Latency.Seconds(), r.Store)
	}
	m.replace(up, latency)
	return missed
}

func (m *Meters) tiers(ctx context.Context, v *operator.Survey) (missed int) {
	items, bytes, caps, use := seriesOf(m.items), seriesOf(m.bytes), seriesOf(m.capBytes), seriesOf(m.capUse)
	for _, member := range m.session.Fleet.Members() {
		all, problems, err := v.Tiers(ctx, member.Name)
		if err != nil || len(problems) > 0 {
			missed++
		}
		for _, t := range all {
			items.add(float64(t.Items), member.Name, label(t.Name))
			bytes.add(float64(t.Bytes), member.Name, label(t.Name))
			if t.Largest >= 0 {
				caps.add(float64(t.Cap), member.Name, label(t.Name))
				use.add(float64(t.Largest)/float64(t.Cap), member.Name, label(t.Name))
			}
		}
	}
	m.replace(items, bytes, caps, use)
	return missed
}

// perStore counts rows by store; a row with a problem is of a store that was not read to the end.
func (m *Meters) perStore(vec *prometheus.GaugeVec, each func(count func(store, problem string))) (missed int) {
	s := seriesOf(vec)
	for _, member := range m.session.Fleet.Members() {
		if member.Err == nil {
			s.add(0, member.Name)
		}
	}
	each(func(store, problem string) {
		if problem != "" {
			missed++
			return
		}
		s.add(1, store)
	})
	m.replace(s)
	return missed
}

func (m *Meters) quarantine(ctx context.Context, v *operator.Survey) int {
	return m.perStore(m.quarantined, func(count func(store, problem string)) {
		for e := range v.Quarantined(ctx) {
			count(e.Store, e.Problem)
		}
	})
}

func (m *Meters) copies(ctx context.Context, v *operator.Survey) int {
	return m.perStore(m.conflicts, func(count func(store, problem string)) {
		for c := range v.Conflicts(ctx) {
			count(c.Store, c.Problem)
		}
	})
}

func (m *Meters) due(v *operator.Survey) int {
	all, err := v.Requests()
	if err != nil {
		return 1
	}
	s := seriesOf(m.requests)
	var next time.Time
	for _, state := range []gdpr.State{gdpr.StateOpen, gdpr.StatePlanned, gdpr.StateApproved, gdpr.StateRunning, gdpr.StatePartial, gdpr.StatePending, gdpr.StateInScope} {
		for _, late := range []bool{false, true} {
			s.add(0, string(state), strconv.FormatBool(late))
		}
	}
	for _, r := range all {
		s.add(1, string(r.State), strconv.FormatBool(r.Overdue))
		if next.IsZero() || r.Deadline.Before(next) {
			next = r.Deadline
		}
	}
	m.replace(s)
	m.nextDeadline.Set(seconds(next))
	return 0
}

func (m *Meters) log(ctx context.Context, v *operator.Survey) int {
	writable := 0.0
	if v.Unlogged() == "" {
		writable = 1
	}
	m.writable.Set(writable)
	l := m.session.Anchoring(ctx)
	if l.Error != "" {
		return 1
	}
	m.records.Set(float64(l.Newest))
	age, behind, trouble := seriesOf(m.anchorAge), seriesOf(m.anchorBehind), seriesOf(m.anchorTrouble)
	for i, an := range l.Anchors {
		name := an.Kind + "-" + strconv.Itoa(i+1) // labels hold no path and no address
		if an.At.IsZero() {
			age.add(math.Inf(1), name)
		} else {
			age.add(m.clock.Now().Sub(an.At).Seconds(), name)
		}
		behind.add(float64(l.Newest-min(an.Seq, l.Newest)), name)
		switch {
		case an.Alarm != "":
			trouble.add(2, name)
		case an.Error != "":
			trouble.add(1, name)
		default:
			trouble.add(0, name)
		}
	}
	m.replace(age, behind, trouble)
	return 0
}

// callsCollector reads the doors' counts of calls.
type callsCollector struct{ path string }

var doorCalls = prometheus.NewDesc("memdesk_door_calls_total", "Calls of agents by verb and outcome, of every door that this state directory has had.", []string{"verb", "outcome"}, nil)

// Describe implements prometheus.Collector.
func (callsCollector) Describe(out chan<- *prometheus.Desc) { out <- doorCalls }

// Collect implements prometheus.Collector. A file that cannot be read is an error of the scrape.
func (c callsCollector) Collect(out chan<- prometheus.Metric) {
	if c.path == "" {
		return
	}
	all, err := counts.Read(c.path)
	if err != nil {
		out <- prometheus.NewInvalidMetric(doorCalls, err)
		return
	}
	for key, n := range all {
		verb, outcome, _ := strings.Cut(key, " ")
		out <- prometheus.MustNewConstMetric(doorCalls, prometheus.CounterValue, float64(n), label(verb), label(outcome))
	}
}
