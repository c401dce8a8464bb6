package names

import (
	"regexp"
	"sync"
)

// The building blocks of patterns. Dates are checked as far as a pattern can: month 13 is no date.
const (
	day     = `(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])`
	days    = `(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])`
	hhmm    = `(?:[01]\d|2[0-3])[0-5]\d`
	hhmmss  = hhmm + `[0-6]\d`
	dashed  = day + `-(?:[01]\d|2[0-3])-[0-5]\d-[0-6]\d`
	owner   = `(?P<who>.+?)(?:['’]s|['’]) `
	again   = `(?: \(?[1-9]\d?\)?)?`
	month   = `(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)`
	wordsIn = `(?i)^`
)

// rowGoogle is a number of a row that the code refers to.
const rowGoogle = 9

// expression is compiled on first use: most commands look for no copies.
type expression func() *regexp.Regexp

func re(s string) expression {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(s) })
}

// table is the format document's table (conflict-names.md) as data. For each part of a name the first
// matching row wins, so narrow forms come first.
var table = []Row{
	// Groups.
	{Number: 14, Tool: "seafile", Class: Conflict, Confidence: Certain, Orphan: Certain, Place: InGroup, hint: hintConflict,
		Pattern: re(wordsIn + `sfconflict (?P<who>.+) ` + dashed + `$`), Tail: re(`^ ?-\d+$`), What: "(SFConflict user date-time)",
		Hits: []Example{
			{"note (SFConflict mira@example.test 2026-05-27-09-08-07).md", "note.md", "mira@example.test"},
			{"note (SFConflict mira@example.test 2026-05-27-09-08-07)-1.md", "note.md", "mira@example.test"},
			{"note.md (SFConflict mira@example.test 2026-05-27-09-08-07)", "note.md", "mira@example.test"},
			{"note.md (SFConflict mira 2026-05-27-09-08-07)-2", "note.md", "mira"}, {"note (SFConflict mira 2026-05-27-09-08-07)-2 (1).md", "note.md", "mira"},
			{"v1.2 plan (sfconflict Jo Bo 2026-05-27-09-08-07).txt", "v1.2 plan.txt", "Jo Bo"},
		},
		Misses: []string{"note (SFConflict).md", "note (SFConflict mira 2026-05-27).md", "note (SFConflict mira 2026-13-27-09-08-07).md"}},
	{Number: 7, Tool: "nextcloud-case", Class: Conflict, Confidence: Probable, Need: BaseExists, Orphan: Probable, Place: InGroup, hint: hintDate,
		Keywords: []string{"case clash from "}, Pattern: re(wordsIn + `case clash from ` + day + ` ` + hhmmss + again + `$`), What: "(case clash from date time)",
		Hits:   []Example{{"note (case clash from 2026-06-03 111213).md", "note.md", ""}, {"Note (Case Clash from 2026-06-03 111213) (1).md", "Note.md", ""}},
		Misses: []string{"note (case clash).md", "note (case clash from Berlin).md"}},
	{Number: 4, Tool: "maestral", Class: Conflict, Confidence: Certain, Orphan: Certain, Place: InGroup, hint: hintConflict,
		Keywords: []string{"conflicting copy"}, Pattern: re(wordsIn + `(?:` + owner + `)?conflicting copy(?: ` + day + `)?` + again + `$`), What: "(conflicting copy)",
		Hits: []Example{
			{"note (conflicting copy).md", "note.md", ""}, {"note (Mira Stone's conflicting copy 2026-06-03).md", "note.md", "Mira Stone"},
			{"note (conflicting copy 1).md", "note.md", ""}, {"note (Mira’s conflicting copy 2026-06-03) (2).md", "note.md", "Mira"},
		},
		Misses: []string{"note (conflicting copy edits).md", "conflicting copy.md", "note (conflicting feelings).md"}},
	{Number: 9, Tool: "google-drive", Also: []string{"dropbox", "nextcloud"}, Class: Conflict, Confidence: Probable, Need: BaseExists, Orphan: Probable, Place: InGroup, hint: hintConflict,
		Keywords: []string{"conflicted copy"}, Pattern: re(wordsIn + `conflicted copy(?: ` + day + `.*)?$`), Tail: re(`^ - (?P<who>[^()]+)$`), What: "(conflicted copy date) - device",
		Hits:   []Example{{"note (conflicted copy 2026-07-14) - Mira Mac.md", "note.md", ""}, {"note (Conflicted copy) - DEV.md", "note.md", ""}, {"note (conflicted copy 2026-05-27 142233) - Mira Mac.md", "note.md", ""}, {"note (conflicted copy) - Mira Mac (1).md", "note.md", ""}},
		Misses: []string{"note (conflicted copy 2026) - v1.2.md", "note (conflicted copies) - Mac.md"}},
	{Number: 5, Tool: "nextcloud", Also: []string{"dropbox", "google-drive"}, Class: Conflict, Confidence: Certain, Orphan: Certain, Place: InGroup, hint: hintConflict,
		Keywords: []string{"conflicted copy "}, Pattern: re(wordsIn + `conflicted copy (?:(?P<who>.+) )?` + day + ` ` + hhmmss + again + `$`), What: "(conflicted copy user date time)",
		Hits: []Example{
			{"note (conflicted copy 2026-05-27 142233).md", "note.md", ""}, {"note (conflicted copy mira_admin_ 2026-06-03 070901).md", "note.md", "mira_admin_"},
			{"note (conflicted copy 2026-05-27 142233) (conflicted copy 2026-07-14 010203).md", "note (conflicted copy 2026-05-27 142233).md", ""},
			{"archive.tar (Conflicted Copy Jo 2026-05-27 142233).gz", "archive.tar.gz", "Jo"}, {"archive (conflicted copy 2026-05-27 142233).tar.gz", "archive.tar.gz", ""},
		},
		Misses: []string{"note (conflicted copying 2026-05-27 142233).md", "note (conflicted copy 2026-05-27 992233).tex.md.tmp", "note [conflicted copy 2026-05-27 142233].md"}},
	{Number: 13, Tool: "obsidian-sync", Class: Conflict, Confidence: Certain, Orphan: Certain, Place: InGroup, hint: hintConflict,
		Keywords: []string{"conflicted copy "}, Pattern: re(wordsIn + `conflicted copy (?:(?P<who>.+) )?` + days + hhmm + again + `$`), What: "(Conflicted copy device YYYYMMDDHHMM)",
		Hits: []Example{
			{"note (Conflicted copy Miras iPhone 202606031129).md", "note.md", "Miras iPhone"}, {"note (Conflicted copy DEV 202607140801).md", "note.md", "DEV"},
			{"v2.0 (Conflicted copy a (b) 202607140801).md", "v2.0.md", "a (b)"},
		},
		Misses: []string{"note (Conflicted copy DEV 202613140801).md.tmp", "note Conflicted copy DEV 202607140801.md"}},
	{Number: 1, Tool: "dropbox", Class: Conflict, Confidence: Certain, Orphan: Certain, Place: InGroup, hint: hintConflict,
		Keywords: []string{"conflicted copy "}, Pattern: re(wordsIn + owner + `conflicted copy ` + day + again + `$`), What: "(who's conflicted copy date)",
		Hits: []Example{
			{"note (Mira Stone's conflicted copy 2026-05-27).md", "note.md", "Mira Stone"}, {"note (Mira Stone’s conflicted copy 2026-05-27).md", "note.md", "Mira Stone"},
			{"note (DESKTOP-4F7K2QA's conflicted copy 2026-05-27 (1)).md", "note.md", "DESKTOP-4F7K2QA"}, {"note (James' conflicted copy 2026-05-27).md", "note.md", "James"},
			{"note (Mira Stone's conflicted copy 2026-05-27) (1).md", "note.md", "Mira Stone"}, {"note (Mira (home)'s conflicted copy 2026-05-27).md", "note.md", "Mira (home)"},
			{"No Extension (Jo St. John's conflicted copy 2026-05-27)", "No Extension", "Jo St. John"}, {".profile (Jo's Conflicted Copy 2026-05-27)", ".profile", "Jo"},
			{"smile :) (Jo's conflicted copy 2026-05-27).md", "smile :).md", "Jo"},
		},
		Misses: []string{"note (Mira's copy 2026-05-27).md", "note (Mira's conflicted copying).md", "Mira's conflicted copy 2026-05-27.md", "(Mira's conflicted copy 2026-05-27).md"}},
	{Number: 1, Tool: "dropbox", Also: []string{"google-drive"}, Class: Conflict, Confidence: Certain, Orphan: Certain, Place: InGroup, hint: hintConflict,
		Keywords: []string{"conflicted copy "}, Pattern: re(wordsIn + `conflicted copy ` + day + `(?: .*)?$`), What: "(conflicted copy date)",
		Hits:   []Example{{"note (conflicted copy 2026-05-27).md", "note.md", ""}, {"note (conflicted copy 2026-05-27 (1)).md", "note.md", ""}, {"note (Conflicted Copy 2026-05-27 on DEV).md", "note.md", ""}},
		Misses: []string{"note (conflicted copy 2026).md", "note (conflicted copy 2026-5-27).md", "note (conflicted feelings).md"}},
	{Number: 1, Tool: "dropbox", Also: []string{"google-drive"}, Class: Conflict, Confidence: Probable, Need: BaseExists, Orphan: Possible, Place: InGroup, hint: hintConflict,
		Keywords: []string{"conflicted copy"}, Pattern: re(wordsIn + `(?:` + owner + `)?conflicted copy` + again + `$`), What: "(conflicted copy) without a date",
		Hits:   []Example{{"note (conflicted copy).md", "note.md", ""}, {"note (Mira's conflicted copy).md", "note.md", "Mira"}, {"note (conflicted copy 2).md", "note.md", ""}},
		Misses: []string{"note (the conflicted copywriter).md", "note conflicted copy.md"}},
	{Number: 4, Tool: "maestral", Also: []string{"dropbox-case"}, Class: Conflict, Confidence: Probable, Need: BaseExists, Orphan: Possible, Place: InGroup, hint: hintConflict,
		Keywords: []string{"case conflict"}, Pattern: re(`^case conflict(?: \d+)?$`), What: "(case conflict)",
		Hits:   []Example{{"note (case conflict).md", "note.md", ""}, {"NOTE (case conflict 1).md", "NOTE.md", ""}},
		Misses: []string{"note (case conflict law).md"}},
	{Number: 3, Tool: "dropbox-case", Also: []string{"maestral"}, Class: Conflict, Confidence: Probable, Need: BaseExists, Orphan: Possible, Place: InGroup, hint: hintConflict,
		Pattern: re(wordsIn + `(?:case|unicode encoding|white ?space|selective sync|shared folder) conflict` + again + `$`), What: "(Case Conflict) and its like",
		Hits: []Example{
			{"note (Case Conflict).md", "note.md", ""}, {"NOTE (Case Conflict 1).md", "NOTE.md", ""}, {"note (Unicode Encoding Conflict).md", "note.md", ""},
			{"note (white space conflict).md", "note.md", ""}, {"note (white space conflict (1)).md", "note.md", ""}, {"note (Whitespace Conflict).md", "note.md", ""}, {"note (Selective Sync Conflict).md", "note.md", ""}, {"note (shared folder conflict) (1).md", "note.md", ""},
		},
		Misses: []string{"note (Cold Case Conflict).md", "note (Unicode Encoding).md", "note (shared folder conflicts).md"}},
	{Number: 17, Tool: "unison", Class: Conflict, Confidence: Probable, Need: BaseExists, Orphan: Probable, Place: InGroup, hint: hintConflict,
		Keywords: []string{" conflict on "}, Pattern: re(wordsIn + `(?P<who>.+) conflict on ` + day + `(?: #?\d+)?$`), What: "(host conflict on date)",
		Hits:   []Example{{"note (desktop-4f7k2qa conflict on 2026-05-27).md", "note.md", "desktop-4f7k2qa"}},
		Misses: []string{"note (conflict on 2026-05-27).md.tmp", "note (the conflict on the bridge).md"}},
	{Number: 15, Tool: "generic-conflict", Class: Conflict, Confidence: Probable, Need: BaseExists, Orphan: Probable, Place: InGroup, hint: hintConflict,
		Keywords: []string{"conflict "}, Pattern: re(wordsIn + `(?:(?P<who>.+?) )?conflict ` + day + `(?:[-T _](?:[01]\d|2[0-3])[-:_.]?[0-5]\d(?:[-:_.]?[0-6]\d)?Z?)?` + again + `$`), What: "(host conflict date-time)",
		Hits: []Example{
			{"note (conflict 2026-06-03-10-11-12).md", "note.md", ""}, {"note (DESKTOP-4F7K2QA conflict 2026-07-14).md", "note.md", "DESKTOP-4F7K2QA"}, {"note (conflict 2026-06-03 101112).md", "note.md", ""},
			{"note (diskstation conflict 2026-07-14-10-11-12).md", "note.md", "diskstation"},
		},
		Misses: []string{"note (conflict of 2026).md", "note (conflict 2026).md", "note (conflict).md"}},
	{Number: 2, Tool: "dropbox-localised", Class: Conflict, Confidence: Certain, Orphan: Certain, Place: InGroup, hint: hintConflict | hintWide,
		Keywords: dropboxListed, Pattern: re(wordsIn + `.*` + day + `.*$`), What: "(localised conflicted copy date)",
		Hits: []Example{
			{"note (In Konflikt stehende Kopie von Mira Stone 2026-05-27).md", "note.md", ""}, {"note (Konfliktkopie von DEV 2026-05-27).md", "note.md", ""}, {"note (Copie en conflit de Mira Stone 2026-06-03).md", "note.md", ""},
			{"note (Copia conflictiva de Mira Stone 2026-06-03).md", "note.md", ""}, {"note (Copia en conflicto de Mira 2026-06-03 (1)).md", "note.md", ""}, {"note (Miraの競合コピー 2026-05-27).md", "note.md", ""},
			{"note (DEV 上の問題のあるコピー 2026-05-27).md", "note.md", ""}, {"note (copie EN CONFLIT de Mira 2026-06-03) (2).md", "note.md", ""},
		},
		Misses: []string{"note (Konflikte 2026).md", "note (Kopie von 2026).md", "note (コピー).md"}},
	{Number: 2, Tool: "dropbox-localised", Class: Conflict, Confidence: Probable, Need: BaseExists, Orphan: Possible, Place: InGroup, hint: hintConflict | hintWide,
		Keywords: dropboxListed, Pattern: re(`(?i)kopie|copie|copia|コピー`), What: "(localised conflicted copy) without a date",
		Hits:   []Example{{"note (Konfliktkopie).md", "note.md", ""}, {"note (Mira の競合コピー).md", "note.md", ""}, {"note (Copia conflictiva).md", "note.md", ""}},
		Misses: []string{"Konfliktkopie.md", "note Konfliktkopie.md", "note (en conflit avec la loi).md"}},
	{Number: 2, Tool: "dropbox-localised", Class: Conflict, Confidence: Probable, Need: BaseExists, Place: InGroup, hint: hintConflict | hintWide | hintDate,
		Keywords: dropboxOther, Pattern: re(wordsIn + `.*` + day + `.*$`), What: "(conflicted copy in another language, date)",
		Hits: []Example{
			{"note (Copia in conflitto di Mira 2026-05-27).md", "note.md", ""}, {"note (Conflicterende kopie van Mira 2026-05-27).md", "note.md", ""}, {"note (конфликтующая копия Mira 2026-05-27).md", "note.md", ""},
			{"note (Mira 的冲突副本 2026-05-27).md", "note.md", ""}, {"note (Mira의 충돌된 사본 2026-05-27).md", "note.md", ""}, {"note (cópia em conflito de Mira 2026-05-27).md", "note.md", ""}, {"note (Ristiriitainen kopio Mira 2026-05-27).md", "note.md", ""},
		},
		Misses: []string{"note (Copia in conflitto).md", "note (конфликт).md"}},
	{Number: 2, Tool: "dropbox-localised", Class: Conflict, Confidence: Probable, Need: BaseAndContent, Place: InGroup, hint: hintDate,
		Pattern: re(`^(?:.*[^\x00-\x7f]|.*\p{L}{3,}[ \p{L}]* .*)` + day + again + `$`), What: "(words and a date): a language that the list does not have",
		Hits:   []Example{{"note (ristikas koopia Mira 2026-05-27).md", "note.md", ""}},
		Misses: []string{"note (2026-05-27).md", "note (v1 2026-05-27).md", "note (ristikas koopia).md"}},

	// Brackets.
	{Number: 9, Tool: "google-drive", Class: Conflict, Confidence: Probable, Need: BaseExists, Orphan: Possible, Place: InBracket, hint: hintBracket,
		Pattern: re(wordsIn + `conflict(?: [1-9]\d*)?$`), What: "[Conflict]",
		Hits: []Example{
			{"note [Conflict].md", "note.md", ""}, {"note [Conflict 2].md", "note.md", ""}, {"note[conflict].md", "note.md", ""}, {"note [Conflict] (1).md", "note.md", ""},
		},
		Misses: []string{"notes[conflict resolution].md", "draft [conflict resolution].md", "[Conflict].md", "note [Conflict] policy.md"}},

	// Anywhere in the name.
	{Number: 8, Tool: "syncthing", Class: Conflict, Confidence: Certain, Orphan: Certain, Place: InName, hint: hintConflict,
		Pattern: re(`(?i)(?:\.|%2[ef])sync-conflict-` + days + `-` + hhmmss + `(?:-(?P<who>[A-Z2-7]{7}))?(?P<keep>(?:(?:\.|%2[ef])[^./]+)?)$`), What: ".sync-conflict-date-time-device",
		Hits: []Example{
			{"note.sync-conflict-20260527-083015-K3ZQ7AB.md", "note.md", "K3ZQ7AB"}, {"note.sync-conflict-20260603-200101.md", "note.md", ""}, {"No Extension.sync-conflict-20261121-025747-6PVZ4Z2", "No Extension", "6PVZ4Z2"},
			{"note.sync-conflict-20260527-083015-K3ZQ7AB.sync-conflict-20260603-091500-AAAAAA7.md", "note.sync-conflict-20260527-083015-K3ZQ7AB.md", "AAAAAA7"},
			{"note%2Fsync-conflict-20260527-083015-K3ZQ7AB.md", "note.md", "K3ZQ7AB"}, {"note%2Fsync-conflict-20260527-083015-K3ZQ7AB%2Fmd", "note.md", "K3ZQ7AB"},
			{"v1.2.notes.sync-conflict-20261121-025747-6PVZ4Z2.md", "v1.2.notes.md", "6PVZ4Z2"}, {"note.sync-conflict-20260527-083015-K3ZQ7AB (1).md", "note.md", "K3ZQ7AB"},
			{"archive.tar.sync-conflict-20260527-083015-K3ZQ7AB.gz", "archive.tar.gz", "K3ZQ7AB"}, {"note.Sync-Conflict-20260527-083015-k3zq7ab.md", "note.md", "k3zq7ab"},
		},
		Misses: []string{"x.sync-conflict-notes.md", "notes on sync-conflict-files.md", "x.sync-conflict-20261327-083015-K3ZQ7AB.md", "x.sync-conflict-20260527-083015-K3ZQ7A.md", "x.sync-conflict-20260527-083015-K3ZQ18A.md", "x.sync-conflict-20260527.md"}},
	{Number: 16, Tool: "rclone", Class: Conflict, Confidence: Certain, Orphan: Certain, Place: InName, hint: hintConflict,
		Pattern: re(`\.conflict[1-9]\d*(?P<keep>(?:\.[A-Za-z0-9]{1,8})?)$`), What: ".conflict1 after or before the extension",
		Hits: []Example{
			{"note.md.conflict1", "note.md", ""}, {"note.md.conflict2", "note.md", ""}, {"note.conflict1.md", "note.md", ""}, {"note.md.conflict1.conflict2", "note.md.conflict1", ""},
			{"note.md.conflict12 (1)", "note.md", ""},
		},
		Misses: []string{"note.md.conflict", "note.conflicts1.md", "note-conflict1.md", "note.md.conflict0"}},
	{Number: 16, Tool: "rclone", Class: Conflict, Confidence: Certain, Orphan: Certain, Place: InName, hint: hintPath,
		Pattern: re(`\.\.path[12](?P<keep>(?:\.[A-Za-z0-9]{1,8})?)$`), What: "..path1 after or before the extension",
		Hits:   []Example{{"note.md..path1", "note.md", ""}, {"note.md..path2", "note.md", ""}, {"note..path1.md", "note.md", ""}},
		Misses: []string{"note.md.path1", "note.md..path3", "note..pathology.md"}},
	{Number: 12, Tool: "resilio", Class: Conflict, Confidence: Certain, Orphan: Certain, Place: InName, hint: hintConflict,
		Pattern: re(`\.(?:Conflict|CONFLICT)\d*(?P<keep>(?:\.[^./ ]+)?)$`), What: ".Conflict",
		Hits: []Example{
			{"note.Conflict.md", "note.md", ""}, {"note.Conflict1.md", "note.md", ""}, {"note.Conflict", "note", ""}, {"note.Conflict12", "note", ""}, {"note.md.Conflict2", "note.md", ""},
			{"note.Conflict.Conflict.md", "note.Conflict.md", ""}, {"note.Conflict.Conflict1", "note.Conflict", ""},
		},
		Misses: []string{"note.Conflicts.md", "Conflict.md", ".Conflict.md", "note.Conflict of interest.md", "noteConflict.md"}},
	{Number: 12, Tool: "resilio", Also: []string{"generic-conflict"}, Class: Conflict, Confidence: Probable, Need: BaseExists, Place: InName, hint: hintConflict,
		Pattern: re(`\.conflict(?P<keep>(?:\.[^./ ]+)?)$`), What: ".conflict in small letters",
		Hits:   []Example{{"note.conflict.md", "note.md", ""}, {"note.md.conflict", "note.md", ""}},
		Misses: []string{"note.conflicted.md", "conflict.md"}},

	// Ends of the stem.
	{Number: 6, Tool: "owncloud-old", Class: Conflict, Confidence: Probable, Need: BaseExists, Orphan: Probable, Place: AtEnd, hint: hintConflict,
		Keywords: []string{"_conflict-"}, Pattern: re(`(?i)_conflict-` + days + `-` + hhmmss + `$`), What: "_conflict-date-time",
		Hits:   []Example{{"note_conflict-20260527-101112.md", "note.md", ""}, {"note_conflict-20260527-101112 (1).md", "note.md", ""}, {"a_conflict-b_conflict-20260527-101112.md", "a_conflict-b.md", ""}},
		Misses: []string{"recipe_conflict-of-tastes.md", "note_conflict-20261327-101112.md", "_conflict-20260527-101112.md"}},
	{Number: 15, Tool: "synology", Class: Conflict, Confidence: Probable, Need: BaseExists, Orphan: Probable, Place: AtEnd, hint: hintConflict,
		Keywords: []string{"_conflict"}, Pattern: re(`(?i)_(?P<who>[^_]+)_` + month + `-\d\d-\d{6}-\d{4}_conflict$`), What: "_host_date-time_Conflict",
		Hits:   []Example{{"note_LAPTOP-SAM01_May-27-101530-2026_Conflict.md", "note.md", "LAPTOP-SAM01"}, {"my_note_DiskStation_Jan-02-235959-2026_Conflict.txt", "my_note.txt", "DiskStation"}},
		Misses: []string{"note_May-27_Conflict.md", "note_LAPTOP_Mai-27-101530-2026_Conflict.md", "War_Conflict.md"}},
	{Number: 18, Tool: "cozy", Class: Conflict, Confidence: Possible, Need: BaseAndContent, Place: AtEnd, hint: hintConflict,
		Pattern: re(`(?i)(?: -|-| |_)+ ?conflict[ _-]+` + day + `T\d\d[-:_.]?\d\d[-:_.]?\d\d(?:[.,_]\d+)?Z?$`), What: "conflict and an ISO date",
		Hits: []Example{
			{"note - conflict 2026-05-27T10-11-12Z.md", "note.md", ""}, {"note conflict 2026-05-27T10:11:12.345Z.md", "note.md", ""}, {"note-conflict-2026-05-27T10_11_12.345Z.md", "note.md", ""},
		},
		Misses: []string{"note - conflict in May.md", "note conflict.md"}},
	{Number: 18, Tool: "cozy", Class: Conflict, Confidence: Possible, Need: BaseAndContent, Place: AtEnd, hint: hintConflict,
		Keywords: []string{"conflict ", "conflict_"}, Pattern: re(`(?i)(?: -|-| |_)+ ?conflict[ _]+` + day + `(?:[ _]\d\d[-:_.]?\d\d(?:[-:_.]?\d\d)?)?$`), What: "conflict and an ISO date",
		Hits:   []Example{{"note - conflict 2026-05-27.md", "note.md", ""}, {"note conflict 2026-05-27.md", "note.md", ""}, {"note conflict 2026-05-27 10-11-12.md", "note.md", ""}},
		Misses: []string{"conflict 2026-05-27.md", "note conflict 2026-13-27.md"}},
	{Number: 15, Tool: "generic-conflict", Class: Conflict, Confidence: Probable, Need: BaseExists, Orphan: Possible, Place: AtEnd, hint: hintConflict,
		Pattern: re(`(?i)[-.]conflict-(?:(?P<who>[^ ]+?)-)?(?:` + day + `|` + days + `)(?:[-T_ ]?[0-9][0-9:_.-]*Z?)?$`), What: "-conflict-date or .conflict-date",
		Hits: []Example{
			{"note-conflict-2026-05-27.md", "note.md", ""}, {"note.conflict-20260527-101112.md", "note.md", ""}, {"note-conflict-LAPTOP-SAM01-2026-05-27-10-11-12.md", "note.md", "LAPTOP-SAM01"}, {"note-conflict-20260527.md", "note.md", ""},
			{"on-conflict-policy-conflict-20260527-101112.md", "on-conflict-policy.md", ""}, {"on-conflict-policy.conflict-20260527.md", "on-conflict-policy.md", ""}, {"Makefile.conflict-20260527", "Makefile", ""},
		},
		Misses: []string{"design-conflict-policy.md", "note.conflict-of-interest.md", "-conflict-20260527.md"}},
	{Number: 15, Tool: "generic-conflict", Class: Conflict, Confidence: Possible, Need: BaseAndContent, Place: AtEnd, hint: hintConflict,
		Pattern: re(`(?i)[-._]conflict-[^ ./]+$`), What: "-conflict- and a word",
		Hits:   []Example{{"note-conflict-LAPTOP.md", "note.md", ""}, {"note.conflict-mira.md", "note.md", ""}, {"note_conflict-1.md", "note.md", ""}, {"on-conflict-policy-conflict-LAPTOP.md", "on-conflict-policy.md", ""}},
		Misses: []string{"note conflict-free.md", "conflict-policy.md"}},
	{Number: 11, Tool: "onedrive", Class: Conflict, Confidence: Probable, Need: BaseExists, Orphan: Possible, Place: AtEnd, hint: hintHost,
		Keywords: []string{"-safebackup-"}, Pattern: re(`-(?P<who>[A-Za-z0-9][A-Za-z0-9.-]*)-safeBackup-\d{4}$`), What: "-host-safeBackup-number",
		Hits:   []Example{{"note-build01-safeBackup-0001.md", "note.md", "build01"}},
		Misses: []string{"note-safeBackup.md", "note-build01-safeBackup-1.md"}},
	{Number: 11, Tool: "onedrive", Class: Conflict, Confidence: Possible, Need: BaseAndContent, Place: AtEnd, hint: hintHost,
		Pattern: re(`-(?P<who>(?:DESKTOP-[A-Z0-9]{7}|LAPTOP-[A-Z0-9]{5,8}|WIN-[A-Z0-9]{11}|[A-Z0-9]+-PC|[A-Z][A-Za-z]*s-(?:MacBook(?:-Pro|-Air)?|iMac|Mac-mini|MBP|iPhone|iPad)))(?:-[1-9]\d?)?$`), What: "-HOST",
		Hits:   []Example{{"note-DESKTOP-4F7K2QA.md", "note.md", "DESKTOP-4F7K2QA"}, {"note-LAPTOP-SAM01-2.md", "note.md", "LAPTOP-SAM01"}, {"note-MIRA-PC.md", "note.md", "MIRA-PC"}, {"a-b-Miras-MacBook-Pro-2.md", "a-b.md", "Miras-MacBook-Pro"}},
		Misses: []string{"a-b.md", "state-DESKTOP.md", "team-LAPTOP.md", "note-desktop-4f7k2qa.md", "plan-B.md", "DESKTOP-4F7K2QA.md"}},
	{Number: 20, Tool: "explorer", Class: Duplicate, Confidence: Possible, Need: BaseAndContent, Place: AtEnd, hint: hintCopy | hintWide,
		Pattern: re(`(?i) - ` + oneOf(copyWords) + `(?: \([1-9]\d?\))?$`), What: "- Copy",
		Hits:   []Example{{"note - Copy.md", "note.md", ""}, {"note - Copy (2).md", "note.md", ""}, {"note - Kopie.md", "note.md", ""}, {"note - copie.md", "note.md", ""}, {"note - copia (3).md", "note.md", ""}, {"note - コピー.md", "note.md", ""}},
		Misses: []string{"Kopie.md", "note - Copying.md", " - Copy.md", "photo - copy desk.md"}},
	{Number: 20, Tool: "finder", Class: Duplicate, Confidence: Possible, Need: BaseAndContent, Place: AtEnd, hint: hintCopy | hintWide,
		Pattern: re(`(?i) ?のコピー(?: ?[1-9]\d?)?$|的?副本(?: ?[1-9]\d?)?$| ` + oneOf(copyWords) + `(?: [1-9]\d?)?$`), What: "copy",
		Hits:   []Example{{"note copy.md", "note.md", ""}, {"note copy 2.md", "note.md", ""}, {"note Kopie 3.md", "note.md", ""}, {"noteのコピー.md", "note.md", ""}, {"note copy", "note", ""}},
		Misses: []string{"photo copy desk.md", "copy.md", "photocopy.md", "note copies.md"}},
	{Number: 10, Tool: "icloud", Also: []string{"finder"}, Class: Conflict, Confidence: Possible, Need: BaseAndContent, Place: AtEnd, hint: hintNumber,
		Pattern: re(`[ \x{a0}](?:[2-9]|1\d|20)$`), What: "a space and a number from 2 to 20",
		Hits:   []Example{{"note 2.md", "note.md", ""}, {"note 20.md", "note.md", ""}, {"No Extension 3", "No Extension", ""}, {"Chapter 2.md", "Chapter.md", ""}},
		Misses: []string{"Untitled 1.md", "Untitled 25.md", "2026-05-27.md", "note 02.md", "note2.md", " 2.md"}},

	// Prefixes.
	{Number: 9, Tool: "google-drive", Also: []string{"explorer"}, Class: Conflict, Confidence: Possible, Need: BaseAndContent, Place: AtStart, hint: hintCopy | hintWide,
		Keywords: copyPrefixes, Pattern: re(`^\([1-9]\d?\) `), What: "Copy of",
		Hits: []Example{
			{"Copy of note.md", "note.md", ""}, {"Kopie von note.md", "note.md", ""}, {"Copie de note.md", "note.md", ""}, {"Copia de note.md", "note.md", ""}, {"COPY OF note.md", "note.md", ""},
			{"Copy of Copy of note.md", "Copy of note.md", ""}, {"Copy of note [Conflict].md", "note [Conflict].md", ""}, {"Cópia de note.md", "note.md", ""}, {"Копия note.md", "note.md", ""}, {"Copy of .profile", ".profile", ""},
		},
		Misses: []string{"Copying note.md", "Copy of.md", "Kopie note.md", "Photocopy of note.md"}},

	// Files that git and patch leave beside a file.
	{Number: 19, Tool: "git-mergetool", Class: Leftover, Confidence: Possible, Need: BaseExists, Orphan: Possible, Place: AtEnd, hint: hintMerge,
		Pattern: re(`_(?:BASE|LOCAL|REMOTE|BACKUP)_\d+$`), What: "_BASE_pid and its like",
		Hits:   []Example{{"note_BASE_4711.md", "note.md", ""}, {"note_LOCAL_4711.md", "note.md", ""}, {"note_REMOTE_1.md", "note.md", ""}, {"note_BACKUP_4711", "note", ""}},
		Misses: []string{"DATA_BASE_notes.md", "note_base_4711.md", "_BASE_4711.md", "note_LOCAL.md"}},
	{Number: 19, Tool: "git-mergetool", Class: Leftover, Confidence: Possible, Need: BaseExists, Place: InName, hint: hintMerge,
		Pattern: re(`\.(?:BASE|LOCAL|REMOTE|BACKUP)\.\d+(?:\.[^./ ]+)?$`), What: ".LOCAL.pid, of older versions",
		Hits:   []Example{{"note.md.LOCAL.4711.md", "note.md", ""}, {"note.md.BASE.4711.md", "note.md", ""}},
		Misses: []string{"note.LOCAL.md", "note.md.local.4711.md"}},
	{Number: 19, Tool: "git-mergetool", Class: Leftover, Confidence: Possible, Need: BaseExists, Place: InName, hint: hintMerge,
		Pattern: re(`(?i)\.orig$`), What: ".orig",
		Hits:   []Example{{"note.md.orig", "note.md", ""}},
		Misses: []string{"note.original", "orig.md", ".orig"}},
	{Number: 19, Tool: "patch", Class: Leftover, Confidence: Possible, Need: BaseExists, Place: InName, hint: hintMerge,
		Pattern: re(`(?i)\.rej$`), What: ".rej",
		Hits:   []Example{{"note.md.rej", "note.md", ""}},
		Misses: []string{"note.reject", "note.rej.md"}},
}

// Forms that need more than a pattern: the weakest one, which every copy of a copy may have, and names that
// only known hosts make readable.
var (
	numberRow = &Row{Number: 9, Tool: "google-drive", Also: []string{"dropbox", "onedrive"}, Class: Conflict, Confidence: Possible, Need: BaseAndContent, What: "a number from 1 to 99 in parentheses",
		Hits:   []Example{{"note (1).md", "note.md", ""}, {"note(2).md", "note.md", ""}, {"budget (99).md", "budget.md", ""}, {"note (1) (2).md", "note (1).md", ""}},
		Misses: []string{"report (2026).md", "release (1.2.3).md", "note (0).md", "note (100).md", "note (01).md", "(1).md"}}
	hostRow = &Row{Number: 11, Tool: "onedrive", Class: Conflict, Confidence: Possible, Need: BaseAndContent, What: "-HOST of a host that is known here"}
	userRow = &Row{Number: 15, Tool: "generic-conflict", Class: Conflict, Confidence: Possible, Need: BaseAndContent, What: "(user) of a user that is known here"}
)

func oneOf(words []string) string {
	s := "(?:"
	for i, w := range words {
		if i > 0 {
			s += "|"
		}
		s += regexp.QuoteMeta(w)
	}
	return s + ")"
}
