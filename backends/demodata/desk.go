package demodata

import (
	"fmt"
	"strings"
	"time"
)

// seedCurated writes the two files that a chat agent keeps of its work and of its
// people, and one proposal that waits for somebody's yes.
func seedCurated(root string, now time.Time) error {
	t := &tree{root: root}
	at := now.AddDate(0, 0, -2)
	t.write("memories/MEMORY.md", strings.Join([]string{
		"The staging gate needs two green runs before the evening boat.",
		"Runner 3 is slow after a power cut: clear its cache first.",
		"Invoices go out in the first week; accounts answers within a day.",
		"The spare sensor is in the blue box under the stairs.",
	}, "\n§\n"), at)
	t.write("memories/USER.md", strings.Join([]string{
		maren.name + " signs off the cost note. She reads mail before eight and never on Sundays.",
		"Likes tables, dislikes emoji.",
	}, "\n§\n"), at)
	t.write("pending/memory/3fa91c07.json", fmt.Sprintf(`{"id": "3fa91c07", "subsystem": "memory", "action": "add", "summary": "add to MEMORY", `+
		`"origin": "background_review", "created_at": %d.5, "payload": {"action": "add", "target": "memory", "content": "The school is closed in the last week of May."}}`+"\n",
		now.AddDate(0, 0, -1).Unix()), now.AddDate(0, 0, -1))
	return t.err
}

// seedWork writes the work items of a repository and what waits for what.
func seedWork(root string, now time.Time) error {
	t := &tree{root: root}
	type issue struct {
		id, title, kind, status, labels, body string
		priority, age                         int
	}
	var lines []string
	for _, i := range []issue{
		{"yard-1", "Second oven: decide", "epic", "open", `"oven"`, "Costs, room, power. The decision is due before the school's summer.", 1, 40},
		{"yard-1.1", "Measure the power line", "task", "in_progress", `"oven"`, "The electrician comes on Wednesday.", 1, 30},
		{"yard-1.2", "Quote from the builder", "task", "open", `"oven","cost"`, "Waits for the power line.", 2, 29},
		{"yard-2", "Dashboard 4 shows the wrong hour", "bug", "closed", `"dashboard"`, "It read the sensor's clock as local time.", 2, 31},
		{"yard-3", "Route planner: tide table for June", "feature", "open", `"routes"`, "Pier 5 is missing.", 2, 9},
		{"yard-4", "Call " + teo.name + " about the crew order", "chore", "open", `"customer"`, "Nine loaves, twice a week. " + teo.mail, 3, 5},
		{"yard-5", "Alarm 12 rings for nothing", "bug", "blocked", `"alarm"`, "Needs the new sensor.", 1, 3},
	} {
		at := now.AddDate(0, 0, -i.age).Format(time.RFC3339)
		lines = append(lines, fmt.Sprintf(`{"_type":"issue","id":%q,"title":%q,"description":%q,"status":%q,"priority":%d,"issue_type":%q,"labels":[%s],"created_at":%q,"updated_at":%q}`,
			i.id, i.title, i.body, i.status, i.priority, i.kind, i.labels, at, at))
	}
	lines = append(lines, `{"_type":"memory","key":"oven-supplier","value":"The oven's maker answers the phone on Fridays only."}`)
	at := now.AddDate(0, 0, -1)
	t.write(".beads/issues.jsonl", strings.Join(lines, "\n")+"\n", at)
	t.write(".beads/deps.jsonl", `{"blockerId":"yard-1.1","blockedId":"yard-1.2"}`+"\n"+`{"blockerId":"yard-1.2","blockedId":"yard-1"}`+"\n", at)
	return t.err
}
