package main

import (
	"database/sql"
	"io"
	"os/exec"
)

// peers do memdesk's work on the same data; erase works on a copy, which clone makes.
type peers struct {
	open, recall func() error
	erase        func(clone string) error
	names        [3]string
}

func graphPeers(path string) peers {
	query := func(path, text string, args ...any) error {
		db, err := sql.Open("sqlite3", "file:"+path)
		if err != nil {
			return err
		}
		defer db.Close()
		rows, err := db.Query(text, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
		}
		return rows.Err()
	}
	return peers{
		names: [3]string{"SELECT", "MATCH … rank", "DELETE, VACUUM"},
		open: func() error {
			return query(path, `SELECT id, tier, content FROM nodes ORDER BY created_at DESC, id LIMIT 50`)
		},
		recall: func() error {
			return query(path, `SELECT n.id, n.content FROM nodes_fts f JOIN nodes n ON n.seq = f.rowid WHERE nodes_fts MATCH 'needle' ORDER BY rank LIMIT 20`)
		},
		erase: func(clone string) error {
			if err := query(clone, `DELETE FROM nodes WHERE content LIKE '%`+person+`%'`); err != nil {
				return err
			}
			return query(clone, `VACUUM`)
		},
	}
}

func notePeers(root string) peers {
	return peers{
		names:  [3]string{"find", "grep -ril", "grep -rlF, rewrite"},
		open:   command("find", root, "-type", "f", "-printf", "%P %s %T@\n"),
		recall: command("grep", "-ril", "needle", root),
		erase: func(clone string) error {
			return command("sh", "-c", "grep -rlF "+person+" "+clone+" | xargs sed -i s/"+person+"/[erased]/")()
		},
	}
}

// command runs another program and discards its output.
func command(name string, args ...string) func() error {
	return func() error {
		c := exec.Command(name, args...)
		c.Stdout = io.Discard
		return c.Run()
	}
}
