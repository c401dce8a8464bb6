package demodata

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// note is one file of the vault.
type note struct {
	kind, slug, body string
	age              int // days
	tags             string
}

// notes are written by people and agents, two of them about a customer.
var notes = []note{
	{"convention", "boat-before-six", "Boats leave before six. Later ones meet the ferry at the narrow bridge.\n", 71, "boats, tides"},
	{"convention", "cost-note-on-monday", "The weekly cost note goes out on Monday, as a table, largest first.\n", 64, "cost"},
	{"convention", "names-of-piers", "Pier 2 is the old town, pier 5 the yard, pier 7 the school. Nobody says east quay any more.\n", 58, "piers"},
	{"decision", "one-queue-for-routes", "One queue for all routes. Two queues starved the evening boat twice in March.\n\n- tried: priority per pier\n- kept: one queue, sorted by tide\n", 44, "routes, queue"},
	{"decision", "rye-on-fridays", "Rye is baked on Fridays only, and on the day before a holiday.\n", 40, "rye"},
	{"fix", "soggy-crust", "# Soggy crust\n\nThe lids were shut before the loaves were cold. Wait **40 minutes**.\n\n1. rack\n2. wait\n3. lid\n", 33, "oven"},
	{"fix", "time-zone-of-dashboard-4", "Dashboard 4 read the sensor's clock as local time. It is UTC.\n", 31, "dashboard"},
	{"idea", "second-oven", "A second oven pays for itself in 14 months if the school stays.\n", 27, "oven, cost"},
	{"preference", "maren-holt", "Maren Holt (HF-2207) wants the early boat and rye bread, and no call before nine.\n", 19, "customer"},
	{"preference", "teo-alvarez", "Teo Alvarez writes from teo.alvarez@example.test and orders for a crew of nine.\n", 17, "customer"},
	{"reference", "harbour-fees", "The fee is 12 a day up to eight metres, 19 above.\n", 12, "fees"},
	{"reference", "pier-keys", "Keys hang in the yard office. The spare for pier 7 is with the school.\n", 9, "piers, keys"},
	{"workflow", "closing-the-yard", "Lights, pumps, gate. Then the log.\n", 6, "yard"},
	{"workflow", "new-customer", "Ask for the pier, the boat and allergies. Write it down at once.\n", 4, "customer"},
}

func (n note) text(day time.Time) string {
	date := day.Format(time.DateOnly)
	return fmt.Sprintf("---\nkind: %s\nstatus: active\ncreated: %s\nupdated: %s\ntags: [%s]\n---\n%s", n.kind, date, date, n.tags, n.body)
}

// seedVault writes the notes and what sync tools left beside them: a real
// difference, a copy that is the same, one whose original is gone, a merge that
// nobody finished.
func seedVault(root string, now time.Time) error {
	t := &tree{root: root}
	today := now.Truncate(24 * time.Hour)
	at := func(n note) time.Time { return today.AddDate(0, 0, -n.age).Add(9 * time.Hour) }
	path := func(n note, tail string) string { return filepath.Join("memory", n.kind, n.slug+tail) }
	by := map[string]note{}
	for _, n := range notes {
		by[n.slug] = n
		t.write(path(n, ".md"), n.text(at(n)), at(n))
	}
	n := by["rye-on-fridays"]
	day := today.AddDate(0, 0, -2)
	t.write(path(n, ".sync-conflict-"+day.Format("20060102")+"-081503-K7QF3ZA.md"),
		strings.Replace(n.text(at(n)), "Fridays only", "Fridays and Tuesdays", 1), day.Add(8*time.Hour))
	t.write(path(n, ".md"), n.text(at(n)), day.Add(8*time.Hour+15*time.Minute)) // Syncthing gives the name to the newer file
	n = by["pier-keys"]
	day = today.AddDate(0, 0, -3)
	t.write(path(n, " (conflicted copy "+day.Format(time.DateOnly)+" 091122).md"), n.text(at(n)), day.Add(9*time.Hour))
	n = by["boat-before-six"]
	day = today.AddDate(0, 0, -5)
	t.write(path(n, " (Ada's conflicted copy "+day.Format(time.DateOnly)+").md"), n.text(at(n))+"In winter before seven.\n", day.Add(7*time.Hour))
	day = today.AddDate(0, 0, -20)
	t.write(filepath.Join("memory", "reference", "old-route.sync-conflict-"+day.Format("20060102")+"-170001-K7QF3ZA.md"),
		note{"reference", "old-route", "By the mill until the bridge is mended.\n", 20, "routes"}.text(day), day.Add(17*time.Hour))
	n = by["harbour-fees"]
	n.body = "<<<<<<< yard\nThe fee is 12 a day up to eight metres, 19 above.\n=======\nThe fee is 13 a day up to eight metres, 21 above.\n>>>>>>> office\n"
	t.write(path(n, ".md"), n.text(at(n)), today.AddDate(0, 0, -1))
	n = by["closing-the-yard"]
	t.write(path(n, " copy.md"), n.text(at(n)), at(n))
	return t.err
}

// seedDevice writes the few notes of one device.
func seedDevice(root string, now time.Time) error {
	t := &tree{root: root}
	for i, text := range []string{"prefers short answers\n", "works from the yard on Thursdays\n", "keeps the tide table open in a second window\n"} {
		at := now.AddDate(0, 0, -10*(i+1))
		t.write(fmt.Sprintf("memory/preference/local-%d.md", i+1), note{kind: "preference", body: text, tags: "device"}.text(at), at)
	}
	return t.err
}
