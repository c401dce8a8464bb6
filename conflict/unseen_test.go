package conflict_test

import (
	"context"
	"fmt"
	"path"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"memdesk/conflict"
	"memdesk/conflict/names"
	"memdesk/model"
)

// seenName is a name that the table was not made from, with the verdict of the format document
// (conflict-names.md, Table and Confidence). Without a base it is an orphan. Every other hit has a
// similar base beside it.
type seenName struct {
	row  int
	tier names.Confidence
	name string
	base string
}

const (
	sure, likely, maybe = names.Certain, names.Probable, names.Possible
)

// unseenHits are copies for every row, by people, machines and languages that the table's own examples lack.
var unseenHits = []seenName{
	// 1: certain by the name alone.
	{1, sure, "Q3 roadmap (Łukasz Żak's conflicted copy 2025-12-31).md", "Q3 roadmap.md"},
	{1, sure, "todo (李雷's conflicted copy 2024-02-29).md", "todo.md"},
	{1, sure, "todo (Aoife O’Brien’s conflicted copy 2023-01-09).md", "todo.md"},
	{1, sure, "todo (Chris' conflicted copy 2023-01-09).md", "todo.md"},
	{1, sure, "todo (Selin's MacBook Pro's conflicted copy 2023-11-02).md", "todo.md"},
	{1, sure, "todo (DESKTOP-9QK2M1X's conflicted copy 2023-11-02 (3)).md", "todo.md"},
	{1, sure, "todo (Marie-Hélène's conflicted copy 2023-11-02) (2).md", "todo.md"},
	{1, sure, "todo (conflicted copy 2023-11-02).md", "todo.md"},
	{1, sure, "todo (Conflicted Copy 2023-11-02 from Pixel 8).md", "todo.md"},
	{1, sure, "backup.tar (Ana's conflicted copy 2023-11-02).gz", "backup.tar.gz"},
	{1, sure, "Makefile (Ana's conflicted copy 2023-11-02)", "Makefile"},
	{1, sure, "(draft) plan (Ana's conflicted copy 2023-11-02).md", "(draft) plan.md"},
	{1, sure, "lone (Ana's conflicted copy 2023-11-02).md", ""},
	{1, sure, "todo (🦊's conflicted copy 2023-11-02).md", "todo.md"},
	// 2: certain in a listed language.
	{2, sure, "Haushalt (In Konflikt stehende Kopie von Jürgen Groß 2025-12-01).md", "Haushalt.md"},
	{2, sure, "Haushalt (Jürgens Konfliktkopie 2025-12-01).md", "Haushalt.md"},
	{2, sure, "Haushalt (Konfliktkopie von LAPTOP-77AB 2025-12-01 (1)).md", "Haushalt.md"},
	{2, sure, "budget (Copie en conflit de Léa Dufour 2025-01-09).md", "budget.md"},
	{2, sure, "budget (Léa - copie en conflit 2025-01-09).md", "budget.md"},
	{2, sure, "lista (Copia conflictiva de José Núñez 2025-02-11).md", "lista.md"},
	{2, sure, "lista (Copia en conflicto de iPad 2025-02-11) (4).md", "lista.md"},
	{2, sure, "計画 (花子 の競合コピー 2025-03-03).md", "計画.md"},
	{2, sure, "計画 (PC-07 上の問題のあるコピー 2025-03-03).md", "計画.md"},
	{2, sure, "solo (Copie en conflit de Léa 2025-01-09).md", ""},
	// 2: probable in another language, with a date and a base.
	{2, likely, "bozza (Copia in conflitto di Luca 2025-05-05).md", "bozza.md"},
	{2, likely, "szkic (kopia powodująca konflikt użytkownika Ola 2025-05-05).md", "szkic.md"},
	{2, likely, "rascunho (cópia em conflito de João 2025-05-05).md", "rascunho.md"},
	{2, likely, "schets (Conflicterende kopie van Sanne 2025-05-05).md", "schets.md"},
	{2, likely, "utkast (Ingrids motstridiga konfliktkopia 2025-05-05).md", "utkast.md"},
	{2, likely, "план (конфликтующая копия Ольга 2025-05-05).md", "план.md"},
	{2, likely, "计划 (小明 的冲突副本 2025-05-05).md", "计划.md"},
	{2, likely, "계획 (민수의 충돌된 사본 2025-05-05).md", "계획.md"},
	// 3
	{3, likely, "Budget (Case Conflict 2).md", "Budget.md"},
	{3, likely, "BUDGET (Case Conflict).md", "budget.md"},
	{3, likely, "café (Unicode Encoding Conflict).md", "café.md"},
	{3, likely, "café (Unicode Encoding Conflict).txt", norm.NFD.String("café.txt")},
	{3, likely, "budget (white space conflict).md", "budget.md"},
	{3, likely, "budget (Selective Sync Conflict 1).md", "budget.md"},
	{3, likely, "budget (shared folder conflict).md", "budget.md"},
	// 4
	{4, sure, "agenda (conflicting copy).md", "agenda.md"},
	{4, sure, "agenda (Nguyễn Văn's conflicting copy 2025-06-06).md", "agenda.md"},
	{4, sure, "agenda (thinkpad-x1's conflicting copy 2025-06-06 (2)).md", "agenda.md"},
	{4, sure, "lone agenda (conflicting copy).md", ""},
	{4, likely, "Agenda (case conflict).md", "agenda.md"},
	// 5
	{5, sure, "invoice (conflicted copy 2025-01-01 235959).md", "invoice.md"},
	{5, sure, "invoice (conflicted copy maria_work_ 2025-01-01 000000).md", "invoice.md"},
	{5, sure, "invoice (conflicted copy Team Nord 2025-01-01 120000) (1).md", "invoice.md"},
	{5, sure, "v2.1 spec (conflicted copy 2025-01-01 235959).md", "v2.1 spec.md"},
	{5, sure, "lone invoice (conflicted copy 2025-01-01 235959).md", ""},
	// 6
	{6, likely, "recipe_conflict-20240101-120000.md", "recipe.md"},
	{6, likely, "re_conflict-cipe_conflict-20240101-120000.md", "re_conflict-cipe.md"},
	{6, likely, "recipe_conflict-20240229-235959 (2).md", "recipe.md"},
	// 7
	{7, likely, "Readme (case clash from 2025-08-09 010203).md", "readme.md"},
	{7, likely, "readme (case clash from 2025-08-09 010203) (1).md", "readme.md"},
	// 8
	{8, sure, "diary.sync-conflict-20240101-000000-ABCDEFG.md", "diary.md"},
	{8, sure, "diary.sync-conflict-20240101-000000-7654327.md", "diary.md"},
	{8, sure, "diary.sync-conflict-20240101-000000.md", "diary.md"},
	{8, sure, ".env.sync-conflict-20240101-000000-ABCDEFG", ".env"},
	{8, sure, "a.b.c.sync-conflict-20240101-000000-ABCDEFG.d", "a.b.c.d"},
	{8, sure, "日記.sync-conflict-20240101-000000-ABCDEFG.md", "日記.md"},
	{8, sure, "lone.sync-conflict-20240101-000000-ABCDEFG.md", ""},
	{8, sure, "diary%2Fsync-conflict-20240101-000000-ABCDEFG.md", "diary.md"},
	// 9
	{9, maybe, "figures (7).md", "figures.md"},
	{9, maybe, "figures(99).md", "figures.md"},
	{9, maybe, "Copy of figures.md", "figures.md"},
	{9, maybe, "Kopie von Zahlen.md", "Zahlen.md"},
	{9, maybe, "Copie de chiffres.md", "chiffres.md"},
	{9, maybe, "Copia de cifras.md", "cifras.md"},
	{9, maybe, "copy of figures.md", "figures.md"},
	{9, likely, "figures [Conflict].md", "figures.md"},
	{9, likely, "figures [Conflict 12].md", "figures.md"},
	{9, likely, "figures [conflict].md", "figures.md"},
	{9, likely, "figures (conflicted copy 2025-01-01) - Pixel 8.md", "figures.md"},
	{9, likely, "figures (conflicted copy) - Ana’s iPad.md", "figures.md"},
	// 10
	{10, maybe, "shopping 2.md", "shopping.md"},
	{10, maybe, "shopping 20.md", "shopping.md"},
	{10, maybe, "Makefile 3", "Makefile"},
	// 11
	{11, maybe, "ledger-DESKTOP-7Q2M1ZX.md", "ledger.md"},
	{11, maybe, "ledger-DESKTOP-7Q2M1ZX-2.md", "ledger.md"},
	{11, maybe, "ledger-LAPTOP-ABC12DEF.md", "ledger.md"},
	{11, maybe, "ledger-WIN-0A1B2C3D4E5.md", "ledger.md"},
	{11, maybe, "ledger-ANA-PC-3.md", "ledger.md"},
	{11, maybe, "ledger-Anas-MacBook-Air.md", "ledger.md"},
	{11, maybe, "ledger-studio-mini.md", "ledger.md"},   // a host of the options
	{11, maybe, "ledger-Studio-Mini-2.md", "ledger.md"}, // likewise
	// 12
	{12, sure, "trip.Conflict.md", "trip.md"},
	{12, sure, "trip.Conflict12.md", "trip.md"},
	{12, sure, "trip.md.Conflict", "trip.md"},
	{12, sure, "trip.md.Conflict3", "trip.md"},
	{12, sure, "lone trip.Conflict.md", ""},
	// 13
	{13, sure, "idea (Conflicted copy Pixel 8 Pro 202506071201).md", "idea.md"},
	{13, sure, "idea (Conflicted copy 書斎 202506071201).md", "idea.md"},
	{13, sure, "idea (conflicted copy work-mac 202512312359).canvas", "idea.canvas"},
	{13, sure, "lone idea (Conflicted copy Pixel 202506071201).md", ""},
	// 14
	{14, sure, "memo (SFConflict ana@nas.local 2025-10-11-12-13-14).md", "memo.md"},
	{14, sure, "memo (SFConflict Ana Lima 2025-10-11-12-13-14)-3.md", "memo.md"},
	{14, sure, "memo.md (SFConflict ana@nas.local 2025-10-11-12-13-14)", "memo.md"},
	{14, sure, "lone memo (SFConflict ana@nas.local 2025-10-11-12-13-14).md", ""},
	// 15
	{15, likely, "log_NAS01_Jan-05-093011-2025_Conflict.md", "log.md"},
	{15, likely, "log_DiskStation2_Dec-31-235959-2025_Conflict.md", "log.md"},
	{15, likely, "log (conflict 2025-01-05-10-11-12).md", "log.md"},
	{15, likely, "log (nas conflict 2025-01-05).md", "log.md"},
	{15, likely, "log (Ana's Mac conflict 2025-01-05-10-11-12).md", "log.md"},
	{15, likely, "log-conflict-20250105-101112.md", "log.md"},
	{15, likely, "log.conflict-20250105-101112.md", "log.md"},
	{15, maybe, "log-conflict-nas01.md", "log.md"},
	// 16
	{16, sure, "data.json.conflict1", "data.json"},
	{16, sure, "data.json.conflict27", "data.json"},
	{16, sure, "data.conflict2.json", "data.json"},
	{16, sure, "data.json..path1", "data.json"},
	{16, sure, "data..path2.json", "data.json"},
	{16, sure, "lone data.json.conflict1", ""},
	// 17
	{17, likely, "wiki (web01.example.org conflict on 2025-01-05).md", "wiki.md"},
	{17, likely, "wiki (ana laptop conflict on 2025-01-05).md", "wiki.md"},
	// 18
	{18, maybe, "photo list - conflict 2025-01-05T10:11:12Z.md", "photo list.md"},
	{18, maybe, "photo list conflict 2025-01-05.md", "photo list.md"},
	// 19
	{19, maybe, "main.md.orig", "main.md"},
	{19, maybe, "main_LOCAL_90210.md", "main.md"},
	{19, maybe, "main.md.rej", "main.md"},
	// 20
	{20, maybe, "essay copy.md", "essay.md"},
	{20, maybe, "essay copy 3.md", "essay.md"},
	{20, maybe, "essay - Copy.md", "essay.md"},
	{20, maybe, "essay - Copy (4).md", "essay.md"},
	{20, maybe, "Aufsatz - Kopie (2).md", "Aufsatz.md"},
	{20, maybe, "dissertation - copie.md", "dissertation.md"},
	{20, maybe, "saggio - copia.md", "saggio.md"},
	{20, maybe, "Aufsatz Kopie 2.md", "Aufsatz.md"},
}

// unseenTraps are ordinary names. The second file exists, has another text, and is the base that a
// hasty reading would choose.
var unseenTraps = [][2]string{
	{"Report (final) (2).md", "Report (final).md"}, {"v1.2 copy edit.md", "v1.2.md"}, {"meeting 2026-05-27 2.md", "meeting 2026-05-27.md"},
	{"minutes (2025).md", "minutes.md"}, {"minutes (1999).md", "minutes.md"}, {"part (12).md", "part.md"}, {"Episode 7.md", "Episode.md"}, {"Week 14.md", "Week.md"},
	{"Kapitel 3.md", "Kapitel.md"}, {"Глава 2.md", "Глава.md"}, {"第 2.md", "第.md"}, {"会議 3.md", "会議.md"}, {"Room 101.md", "Room.md"}, {"Apollo 11.md", "Apollo.md"},
	{"2025-01-05 3.md", "2025-01-05.md"}, {"v2 3.md", "v2.md"}, {"release (2.0.1).md", "release.md"}, {"release (v2).md", "release.md"}, {"release (beta).md", "release.md"},
	{"state-CA.md", "state.md"}, {"state-NEW-YORK.md", "state.md"}, {"team-DESKTOP.md", "team.md"}, {"x-ray.md", "x.md"}, {"follow-up.md", "follow.md"}, {"COVID-19.md", "COVID.md"},
	{"plan-B.md", "plan.md"}, {"type-A-2.md", "type.md"}, {"guide-Windows-PC-setup.md", "guide.md"}, {"review-WIN-WIN.md", "review.md"}, {"build-LAPTOP-guide.md", "build.md"},
	{"notes [conflict of interest].md", "notes.md"}, {"notes [conflicting views].md", "notes.md"}, {"notes [conflicts].md", "notes.md"}, {"[Conflict] theory.md", "theory.md"},
	{"war (conflict 1914).md", "war.md"}, {"war (the conflict on the border).md", "war.md"}, {"war (Conflict).md", "war.md"}, {"war-conflict-zones.md", "war.md"}, {"war_conflict-map.md", "war.md"},
	{"war.conflict-studies.md", "war.md"}, {"role conflict 2.md", "role conflict.md"}, {"conflict-resolution-guide.md", "conflict.md"}, {"merge conflict tips.md", "merge.md"},
	{"note (conflicted copywriting).md", "note.md"}, {"note (the conflicted copyright case 2024).md", "note.md"}, {"note (conflicted).md", "note.md"}, {"conflicted copy.md", "conflicted.md"},
	{"on (conflicted copy 2026) - v2.md", "on.md"}, {"sync-conflict-howto.md", "sync.md"}, {"about.sync-conflict.md", "about.md"}, {"about.sync-conflict-2024.md", "about.md"},
	{"about.sync-conflict-20249999-000000-ABCDEFG.md", "about.md"}, {"about.sync-conflict-20240101-250000-ABCDEFG.md", "about.md"}, {"about.sync-conflict-20240101-000000-ABCDEF1.md", "about.md"},
	{"talk.Conflict of laws.md", "talk.md"}, {"talk.Conflicts.md", "talk.md"}, {"talkConflict.md", "talk.md"}, {"Conflict.md", "md"}, {"talk.md.conflicting", "talk.md"},
	{"path..pathology.md", "path.md"}, {"list.path1.md", "list.md"}, {"list.md.conflict0", "list.md"}, {"hard copy.md", "hard.md"}, {"ad copy 2.md", "ad.md"}, {"carbon copy.md", "carbon.md"},
	{"photocopy 2.md", "photo.md"}, {"Copy of Keys.md", "Keys.md"}, {"Copy of record.md", "record.md"}, {"Kopie von Recht.md", "Recht.md"}, {"Copia de vida.md", "vida.md"}, {"Copyright.md", "right.md"},
	{"Копия правды.md", "правды.md"}, {"review - copy desk.md", "review.md"}, {"(Mira's notes 2024-01-01).md", "Mira.md"}, {"trip (Berlin 2024-01-01).md", "trip.md"}, {"trip (Mira's birthday 2024-05-05).md", "trip.md"},
	{"trip (Köln und Bonn 2024-05-05).md", "trip.md"}, {"対談 (東京 2024-05-05).md", "対談.md"}, {"встреча (Москва 2024-05-05).md", "встреча.md"}, {"diary (2024-05-05).md", "diary.md"},
	{"diary (2024-05-05 120000).md", "diary.md"}, {"case (cold case conflict).md", "case.md"}, {"case (legal case clash).md", "case.md"}, {"case (case clash from Berlin).md", "case.md"},
	{"cfg_REMOTE.md", "cfg.md"}, {"song original.md", "song.md"}, {"SFConflict notes.md", "SFConflict.md"}, {"memo (SFConflict explained).md", "memo.md"},
	{"essay (draft) (3).md", "essay (draft).md"}, {"essay (a) 4.md", "essay (a).md"}, {"smile :) 2.md", "smile :).md"}, {"list (1) of (2).md", "list (1) of.md"}, {"iPhone 15.md", "iPhone.md"},
	{"Windows 11.md", "Windows.md"}, {"Plan 9.md", "Plan.md"}, {"Area (51).md", "Area.md"}, {"Catch (22).md", "Catch.md"}, {"ledger-Some-Host.md", "ledger.md"}, {"ledger (mira).md", "ledger.md"},
	{"журнал-конфликт.md", "журнал.md"}, {"競合分析.md", "競合.md"}, {"メモ (競合分析).md", "メモ.md"}, {"Konflikt (Kopie der Akte).md", "Konflikt.md"}, {"Akte (Konfliktlösung).md", "Akte.md"},
	{"dossier (en conflit avec la loi).md", "dossier.md"},
}

func unseenText(n int, copied bool) string {
	last := "the last line"
	if copied {
		last = "another last line"
	}
	return fmt.Sprintf("# Text %d\n\none %d\ntwo %d\nthree %d\nfour\nfive\nsix\nseven\neight\n%s\n", n, n, n, n, last)
}

// TestUnseenNames measures all decisions on names that the table was not made from.
func TestUnseenNames(t *testing.T) {
	given := map[string]string{}
	for i, h := range unseenHits {
		dir := fmt.Sprintf("h%03d/", i)
		given[dir+h.name] = unseenText(i, true)
		if h.base != "" {
			given[dir+h.base] = unseenText(i, false)
		}
	}
	for i, p := range unseenTraps {
		dir := fmt.Sprintf("t%03d/", i)
		given[dir+p[0]] = fmt.Sprintf("All about %d, at length.\nNothing else.\n", i)
		given[dir+p[1]] = fmt.Sprintf("---\nslug: other-%d\n---\nAn unlike text.\n", i)
	}
	root := t.TempDir()
	write(t, root, given)
	got := map[string]conflict.Copy{}
	for c, err := range conflict.List(t.Context(), openFolder(t, root, nil), conflict.Options{Hosts: []string{"studio-mini"}, Note: func(s string, _ bool) { t.Error(s) }}) {
		if err != nil {
			t.Fatal(err)
		}
		got[c.ID] = c
	}
	missed, wrong := 0, 0
	for i, h := range unseenHits {
		id := fmt.Sprintf("h%03d/%s", i, h.name)
		c, ok := got[id]
		delete(got, id)
		switch {
		case !ok:
			missed++
			t.Errorf("row %d: %q is not found", h.row, h.name)
		case c.Row != h.row || c.Confidence != h.tier || c.Orphan != (h.base == "") || h.base != "" && path.Base(c.BaseID) != h.base:
			wrong++
			t.Errorf("%q is row %d, %s, base %q, want row %d, %s, base %q", h.name, c.Row, c.Confidence, path.Base(c.BaseID), h.row, h.tier, h.base)
		}
	}
	traps := 0
	for id, c := range got {
		if strings.HasPrefix(id, "t") || c.Confidence != names.Possible {
			traps++
			t.Errorf("%q is no copy: row %d, %s: %s", path.Base(id), c.Row, c.Confidence, c.Reason)
		}
	}
	t.Logf("%d copies: %d missed, %d wrong; %d ordinary names: %d taken for copies", len(unseenHits), missed, wrong, len(unseenTraps), traps)
}

// partly is a store of which parts cannot be read.
type partly struct {
	store    model.Namer
	problems []string
}

func (p partly) Names(ctx context.Context, yield func(string) bool) ([]string, error) {
	_, err := p.store.Names(ctx, yield)
	return p.problems, err
}

// TestAListSaysWhatItCouldNotRead: a gap is told apart from what a search leaves out by itself, links among it.
func TestAListSaysWhatItCouldNotRead(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"a.md": "text\n"})
	s := openFolder(t, root, nil)
	const secret, link = "secret: permission denied", "link " + model.LinkProblem
	s.Names = partly{s.Names, []string{secret, link}}
	got := map[string]bool{}
	for _, err := range conflict.List(t.Context(), s, conflict.Options{Note: func(s string, gap bool) { got[s] = gap }}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if gap, told := got[link]; len(got) != 2 || !got[secret] || gap || !told {
		t.Errorf("told %v", got)
	}
}
