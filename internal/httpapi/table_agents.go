// The table: what agents are given, and what they said.

package httpapi

import (
	"context"
	"net/http"

	"github.com/oxbow-memory/oxbow/tool"
)

func contextRoutes() []route {
	return []route{
		look("/context", "context", "What stands before a model when a session begins", tool.Start),
		look("/context/selection", "selection", "What is selected of the memory", selection),
		look("/inject", "inject", "What a prompt would get, and why not", tool.Inject, quick),
		newRoute(http.MethodPost, "/inject", tool.Verb{Name: "try_inject", Title: "What a prompt in the body would get, and why not", ReadOnly: true, Idempotent: true}, tool.Inject, nil),
		look("/injections", "injections", "What hooks put before models", tool.Injected),
	}
}

// selectionIn is what selection takes.
type selectionIn struct {
	Query  string `json:"query,omitempty" usage:"The text that it is for: what fits it ranks higher."`
	Budget int    `json:"max_tokens,omitempty" also:"token_budget,budget" usage:"Most tokens."`
	AsOf   string `json:"as_of,omitempty" usage:"The memory as it stood at this date, or after this change."`
}

// selection is [tool.Select] for the profile that binds the caller, or for all.
func selection(ctx context.Context, w *tool.Workspace, in selectionIn) (tool.SelectionOut, error) {
	return tool.Select(ctx, w, tool.SelectIn{Query: in.Query, Budget: in.Budget, AsOf: in.AsOf})
}

func inboxRoutes() []route {
	return []route{
		look("/inbox", "inbox", "List proposals", tool.Inbox, whole),
		look("/inbox/{id}", "proposal", "Show a proposal", tool.Proposal, whole),
		change(http.MethodPost, "/inbox/accept", "accept", "Make notes of proposals; for persons", tool.AcceptProposals, whole),
		change(http.MethodPost, "/inbox/reject", "reject", "Drop proposals; for persons", tool.DropProposals, whole, takes),
		look("/changed", "changed", "List entries of a person that agents changed", tool.Changed, whole),
		look("/held", "held", "List entries that are held back", tool.Held, whole),
		change(http.MethodPost, "/approve", "approve", "Let entries be shown that are held back; for persons", tool.Approve, whole),
	}
}

func sessionRoutes() []route {
	return []route{
		look("/sessions", "sessions", "List sessions", tool.Sessions),
		look("/sessions/search", "search_sessions", "Find turns of sessions by words", tool.SearchSessions),
		look("/sessions/{session}", "session", "Show the turns of a session", tool.ShowSession),
		look("/sessions/{session}/resume", "resume", "How a client goes on with a session", tool.ResumeSession),
		change(http.MethodDelete, "/sessions/{session}", "forget_session", "Remove a session from the archive", forgetSession, takes),
		change(http.MethodPost, "/sessions/restore", "restore_session", "Bring back the session that was forgotten last", restoreSession),
	}
}

// forgetSessionIn is what forgetSession takes.
type forgetSessionIn struct {
	Session string `json:"session" usage:"Identifier of the session, or how it begins."`
	DryRun  bool   `json:"dry_run,omitempty" usage:"Say what would be forgotten, and change nothing."`
}

// forgetSession is [tool.ForgetSession] as it can be taken back.
func forgetSession(ctx context.Context, w *tool.Workspace, in forgetSessionIn) (tool.ForgetSessionOut, error) {
	return tool.ForgetSession(ctx, w, tool.ForgetSessionIn{Session: in.Session, DryRun: in.DryRun})
}

func restoreSession(ctx context.Context, w *tool.Workspace, _ struct{}) (tool.ForgetSessionOut, error) {
	return tool.ForgetSession(ctx, w, tool.ForgetSessionIn{Undo: true})
}

func handoffRoutes() []route {
	return []route{
		look("/handoffs", "handoffs", "List handoffs", tool.Handoffs),
		change(http.MethodPost, "/handoffs", "hand_off", "Hand off a task with its memory", tool.HandOff),
		look("/handoffs/{name}", "handoff", "Show a handoff as its taker sees it", tool.ShowHandoff),
		change(http.MethodDelete, "/handoffs/{name}", "drop_handoff", "Forget a handoff", tool.DropHandoff, takes),
	}
}

func profileRoutes() []route {
	return []route{
		look("/profiles", "profiles", "List profiles", tool.ListProfiles, whole),
		look("/profiles/{name}", "profile", "Show a profile with all that it extends", tool.ShowProfile, whole),
		look("/profiles/{profile}/selection", "select", "What a profile selects", tool.Select, whole),
		look("/profiles/{name}/budget", "budget", "Count the tokens of a profile", tool.ProfileBudget, whole),
		look("/profiles/{names}/lint", "lint_profile", "What the writer of a profile did not mean", tool.LintProfiles, whole),
	}
}
