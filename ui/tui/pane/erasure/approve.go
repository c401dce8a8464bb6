package erasure

import (
	"cmp"
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/internal/safetext"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

const noApproval, approved = "the plan needs no approval: E carries it out", "the plan is approved: E carries it out"

// unasked says why nobody is asked to approve a request; empty where somebody is.
func (rq *requests) unasked(r operator.ErasureRequest) string {
	return cmp.Or(act.When(!rq.D.Erasure.Rules().RequireApproval && len(r.Approvals) == 0, noApproval), act.When(r.State == gdpr.StateApproved, approved))
}

// approvalFirst says what comes before the erasure of a plan that has to be approved, to the one who reads it.
func (rq *requests) approvalFirst(r operator.ErasureRequest) string {
	switch {
	case rq.D.Erasure.BySession(&r.Request) && rq.D.Locked("") == "":
		return "`A` approves it with the key of your login."
	case rq.D.Remote:
		return "Another operator has to approve it: `A` says how."
	}
	return "`A` comes first: it approves the plan, or says who must."
}

// unapproved is the page that says how a plan is approved, where nothing here can do it.
func (rq *requests) unapproved(r operator.ErasureRequest, p gdpr.Plan, why string) dialog.Proposal {
	page := text.NewPage(rq.approvalLines(r, p, why, false), "")
	return dialog.Proposal{Open: func() tea.Cmd { return rq.D.Modal.Host.Page("Approval", page) }}
}

// approve asks a second operator to sign the plan, or says who must, where nothing here can sign.
func (rq *requests) approve(r operator.ErasureRequest) tea.Cmd {
	d := rq.D
	return d.Modal.Prepare(func(ctx context.Context) dialog.Proposal {
		now, p, why, err := rq.standing(ctx, r.ID)
		switch {
		case err != nil:
			return dialog.Proposal{No: prose.Reason(d.Esc, err)}
		case why != "" && d.Erasure.BySession(&now.Request) && d.Locked("") == "":
			dlg := rq.approveDialog(now, p, "You approve", "the record of your session", func(ctx context.Context, _ dialog.Filled) error { return d.Erasure.ApproveHere(ctx, r.ID, p.Hash) })
			dlg.Lines = append(dlg.Lines, text.Line{Value: d.Esc.Const("The log records it with the key of your login, and the receipt names that.")})
			return dialog.Proposal{Dialog: dlg}
		case why == "":
			return dialog.Proposal{No: d.Esc.Const(cmp.Or(rq.unasked(now), approved))}
		case d.Remote || d.Locked("") != "":
			return rq.unapproved(now, p, why)
		}
		dlg := rq.approveDialog(now, p, "You sign", "your signature", func(ctx context.Context, f dialog.Filled) error {
			env := func(k string) string { return d.Env[k] }
			keyFile := strings.TrimSpace(f.Fields[0])
			if keyFile != "" {
				keyFile = backends.ExpandPath(keyFile, env("PWD"), env)
			}
			return d.Erasure.Approve(ctx, r.ID, p.Hash, keyFile, env("SSH_AUTH_SOCK"))
		})
		dlg.Lines = append(dlg.Lines, rq.approvalLines(now, p, why, true)...)
		dlg.Fields = []dialog.Field{{Label: d.Esc.Const("your private SSH key file, or empty for a key of your agent: ")}}
		return dialog.Proposal{Dialog: dlg}
	})
}

// approveDialog says whose memory goes and how much, who filed it, and what stays; how says what the operator does, by
// what approves it.
func (rq *requests) approveDialog(r operator.ErasureRequest, p gdpr.Plan, how, by string, approve func(context.Context, dialog.Filled) error) *dialog.Dialog {
	esc := rq.D.Esc
	lines := []text.Line{
		{Value: esc.Sprintf("Approve the erasure of %s with your own key?", esc.LineMax(r.Subject, prose.MaxTitle)), Kind: text.Title},
		personLine(esc, r),
		desk.Field("filed by", esc.Sprintf("%s; planned %s", esc.LineMax(r.By, prose.MaxTitle), prose.Moment(p.Made))),
		desk.Field("plan", esc.Const(fateWords(countPlan(&p)))),
	}
	lines = append(lines, unsearchedLines(esc, p, "Nothing is erased there.")...)
	missing, _ := backupLines(esc, rq.D.Erasure.Backups(p))
	lines = append(append(lines, missing...),
		text.Line{Value: esc.Sprintf("%s exactly this plan, and it is void when anything in it changes.", safetext.Const(how))},
		text.Line{Value: esc.Sprintf("The hash of the plan: %s", esc.Line(p.Hash)), Pin: true})
	return &dialog.Dialog{
		Title: esc.Const("Approve"), NoReason: true, Body: text.NewPage(rq.eraseStores(p), ""), Lines: lines,
		Choices: []dialog.Choice{{Verb: "Approve", Act: func(ctx context.Context, f dialog.Filled) dialog.Acted {
			if err := approve(ctx, f); err != nil {
				return dialog.Acted{Text: esc.Sprintf("not approved: %s", prose.Reason(esc, err))}
			}
			return dialog.Acted{Ok: true, Text: esc.Sprintf("approved %s by %s over the plan %s", r.ID, safetext.Const(by), safetext.Const(p.Short()))}
		}}},
	}
}
