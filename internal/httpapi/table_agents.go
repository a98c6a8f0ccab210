// This file has the routes for the context of agents, their sessions, and profiles.

package httpapi

import (
	"context"
	"net/http"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/injection"
	"github.com/oxbow-memory/oxbow/internal/verb/labels"
	"github.com/oxbow-memory/oxbow/internal/verb/profiles"
	"github.com/oxbow-memory/oxbow/internal/verb/review"
	"github.com/oxbow-memory/oxbow/internal/verb/sessions"
)

func contextRoutes() []route {
	return []route{
		look("/context", "context", "What stands before a model when a session begins", injection.Start),
		look("/context/selection", "selection", "What is selected of the memory", selection),
		look("/inject", "inject", "What a prompt would get, and why not", injection.Inject, isQuick),
		newRoute(
			http.MethodPost,
			"/inject",
			verb.Verb{
				Name:       "try_inject",
				Title:      "What a prompt in the body would get, and why not",
				ReadOnly:   true,
				Idempotent: true,
			},
			injection.Inject,
			nil,
		),
		look("/injections", "injections", "What hooks put before models", injection.Injected),
	}
}

// selectionIn are the arguments of selection.
type selectionIn struct {
	Query  string `json:"query,omitempty"      usage:"The text that it is for: what fits it ranks higher."`
	Budget int    `json:"max_tokens,omitempty" usage:"Most tokens."                                               also:"token_budget,budget"`
	AsOf   string `json:"as_of,omitempty"      usage:"The memory as it stood at this date, or after this change."`
}

// selection calls [verb.Select] for the profile of the caller's view, or for the whole
// memory if it has none.
func selection(ctx context.Context, w *verb.Workspace, in selectionIn) (verb.SelectionOut, error) {
	return profiles.Select(ctx, w, profiles.SelectIn{Query: in.Query, Budget: in.Budget, AsOf: in.AsOf})
}

func inboxRoutes() []route {
	return []route{
		look("/inbox", "inbox", "List proposals", review.Inbox, wholeMemory),
		look("/inbox/{id}", "proposal", "Show a proposal", review.Proposal, wholeMemory),
		change(
			http.MethodPost,
			"/inbox/accept",
			"accept",
			"Make notes of proposals; for persons",
			review.AcceptProposals,
			wholeMemory,
		),
		change(
			http.MethodPost,
			"/inbox/reject",
			"reject",
			"Drop proposals; for persons",
			review.DropProposals,
			wholeMemory,
			removesData,
		),
		look("/changed", "changed", "List entries of a person that agents changed", review.Changed, wholeMemory),
		look("/held", "held", "List entries that are held back", labels.Held, wholeMemory),
		change(
			http.MethodPost,
			"/approve",
			"approve",
			"Let entries be shown that are held back; for persons",
			labels.Approve,
			wholeMemory,
		),
	}
}

func sessionRoutes() []route {
	return []route{
		look("/sessions", "sessions", "List sessions", sessions.Sessions),
		look("/sessions/search", "search_sessions", "Find turns of sessions by words", sessions.SearchSessions),
		look("/sessions/{session}", "session", "Show the turns of a session", sessions.ShowSession),
		look("/sessions/{session}/handoff", "session_handoff", "Show what a session gets after a compaction",
			verb.ShowRecord),
		look("/sessions/{session}/resume", "resume", "How a client goes on with a session", sessions.ResumeSession),
		change(
			http.MethodDelete,
			"/sessions/{session}",
			"forget_session",
			"Remove a session from the archive",
			forgetSession,
			removesData,
		),
		change(
			http.MethodPost,
			"/sessions/restore",
			"restore_session",
			"Bring back the session that was forgotten last",
			restoreSession,
		),
	}
}

// forgetSessionIn are the arguments of forgetSession.
type forgetSessionIn struct {
	Session string `json:"session"           usage:"Identifier of the session, or how it begins."`
	DryRun  bool   `json:"dry_run,omitempty" usage:"Say what would be forgotten, and change nothing."`
}

// forgetSession calls [sessions.ForgetSession] without the option Purge, so that it can be undone.
func forgetSession(ctx context.Context, w *verb.Workspace, in forgetSessionIn) (sessions.ForgetSessionOut, error) {
	return sessions.ForgetSession(ctx, w, sessions.ForgetSessionIn{Session: in.Session, DryRun: in.DryRun})
}

func restoreSession(ctx context.Context, w *verb.Workspace, _ struct{}) (sessions.ForgetSessionOut, error) {
	return sessions.ForgetSession(ctx, w, sessions.ForgetSessionIn{Undo: true})
}

func handoffRoutes() []route {
	return []route{
		look("/handoffs", "handoffs", "List handoffs", verb.Handoffs),
		change(http.MethodPost, "/handoffs", "hand_off", "Hand off a task with its memory", verb.HandOff),
		look("/handoffs/{name}", "handoff", "Show a handoff as its taker sees it", verb.ShowHandoff),
		change(http.MethodPost, "/handoffs/{name}/take", "take_handoff", "Take a handoff, once", verb.TakeHandoff),
		change(
			http.MethodDelete,
			"/handoffs/{name}",
			"drop_handoff",
			"Forget a handoff",
			verb.DropHandoff,
			removesData,
		),
	}
}

func profileRoutes() []route {
	return []route{
		look("/profiles", "profiles", "List profiles", profiles.ListProfiles, wholeMemory),
		look(
			"/profiles/{name}",
			"profile",
			"Show a profile with all that it extends",
			profiles.ShowProfile,
			wholeMemory,
		),
		look("/profiles/{profile}/selection", "select", "What a profile selects", profiles.Select, wholeMemory),
		look("/profiles/{name}/budget", "budget", "Count the tokens of a profile", profiles.ProfileBudget, wholeMemory),
		look(
			"/profiles/{names}/lint",
			"lint_profile",
			"What the writer of a profile did not mean",
			profiles.LintProfiles,
			wholeMemory,
		),
	}
}
