// This file defines the HTTP routes for contexts of agents, the inbox, sessions, handoffs and profiles.

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
		newReadRoute(
			"/context",
			"context",
			"What stands before a model when a session begins",
			injection.BuildSessionStartBlock,
		),
		newReadRoute("/context/selection", "selection", "What is selected of the memory", selectEntriesForCaller),
		newReadRoute("/inject", "inject", "What a prompt would get, and why not", injection.Inject, markConstantTime),
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
		newReadRoute("/injections", "injections", "What hooks put before models", injection.ListInjections),
	}
}

// selectionIn contains the arguments of the route that selects entries by the caller's profile.
type selectionIn struct {
	RankingText string `json:"query,omitempty"      usage:"The text that it is for: what fits it ranks higher."`
	MaxTokens   int    `json:"max_tokens,omitempty" usage:"Most tokens."                                               also:"token_budget,budget"`
	AsOf        string `json:"as_of,omitempty"      usage:"The memory as it stood at this date, or after this change."`
}

// selectEntriesForCaller returns the entries that the caller's profile selects. If the caller has no profile, it
// selects from the whole memory.
func selectEntriesForCaller(ctx context.Context, w *verb.Workspace, in selectionIn) (verb.SelectionOut, error) {
	return profiles.SelectEntries(
		ctx,
		w,
		profiles.SelectEntriesIn{Query: in.RankingText, MaxTokens: in.MaxTokens, AsOfDateOrSeq: in.AsOf},
	)
}

func inboxRoutes() []route {
	return []route{
		newReadRoute("/inbox", "inbox", "List proposals", review.ListProposals, requireWholeMemoryAccess),
		newReadRoute("/inbox/{id}", "proposal", "Show a proposal", review.ShowProposal, requireWholeMemoryAccess),
		newWriteRoute(
			http.MethodPost,
			"/inbox/accept",
			"accept",
			"Make notes of proposals; for persons",
			review.AcceptProposals,
			requireWholeMemoryAccess,
		),
		newWriteRoute(
			http.MethodPost,
			"/inbox/reject",
			"reject",
			"Drop proposals; for persons",
			review.DropProposals,
			requireWholeMemoryAccess,
			markDestructive,
		),
		newReadRoute(
			"/changed",
			"changed",
			"List entries of a person that agents changed",
			review.ListAgentChanges,
			requireWholeMemoryAccess,
		),
		newReadRoute(
			"/held",
			"held",
			"List entries that are held back",
			labels.ListQuarantinedEntries,
			requireWholeMemoryAccess,
		),
		newWriteRoute(
			http.MethodPost,
			"/approve",
			"approve",
			"Let entries be shown that are held back; for persons",
			labels.ApproveEntries,
			requireWholeMemoryAccess,
		),
	}
}

func sessionRoutes() []route {
	return []route{
		newReadRoute("/sessions", "sessions", "List sessions", sessions.ListSessions),
		newReadRoute("/sessions/search", "search_sessions", "Find turns of sessions by words", sessions.SearchSessions),
		newReadRoute("/sessions/{session}", "session", "Show the turns of a session", sessions.ShowSession),
		newReadRoute("/sessions/{session}/handoff", "session_handoff", "Show what a session gets after a compaction",
			verb.ShowSessionRecord),
		newReadRoute(
			"/sessions/{session}/resume",
			"resume",
			"How a client goes on with a session",
			sessions.ResumeSession,
		),
		newWriteRoute(
			http.MethodDelete,
			"/sessions/{session}",
			"forget_session",
			"Remove a session from the archive",
			forgetSessionWithoutPurge,
			markDestructive,
		),
		newWriteRoute(
			http.MethodPost,
			"/sessions/restore",
			"restore_session",
			"Bring back the session that was forgotten last",
			undoForgetSession,
		),
	}
}

// forgetSessionIn contains the arguments of forgetSessionWithoutPurge.
type forgetSessionIn struct {
	Session string `json:"session"           usage:"Identifier of the session, or how it begins."`
	DryRun  bool   `json:"dry_run,omitempty" usage:"Say what would be forgotten, and change nothing."`
}

// forgetSessionWithoutPurge calls [sessions.ForgetSession] without the option Purge, so that the call can be undone.
func forgetSessionWithoutPurge(
	ctx context.Context,
	w *verb.Workspace,
	in forgetSessionIn,
) (sessions.ForgetSessionOut, error) {
	return sessions.ForgetSession(ctx, w, sessions.ForgetSessionIn{Session: in.Session, DryRun: in.DryRun})
}

func undoForgetSession(ctx context.Context, w *verb.Workspace, _ struct{}) (sessions.ForgetSessionOut, error) {
	return sessions.ForgetSession(ctx, w, sessions.ForgetSessionIn{Undo: true})
}

func handoffRoutes() []route {
	return []route{
		newReadRoute("/handoffs", "handoffs", "List handoffs", verb.ListHandoffs),
		newWriteRoute(http.MethodPost, "/handoffs", "hand_off", "Hand off a task with its memory", verb.StoreHandoff),
		newReadRoute("/handoffs/{name}", "handoff", "Show a handoff as its taker sees it", verb.ShowHandoff),
		newWriteRoute(
			http.MethodPost,
			"/handoffs/{name}/take",
			"take_handoff",
			"Take a handoff, once",
			verb.TakeHandoff,
		),
		newWriteRoute(
			http.MethodDelete,
			"/handoffs/{name}",
			"drop_handoff",
			"Forget a handoff",
			verb.DropHandoff,
			markDestructive,
		),
	}
}

func profileRoutes() []route {
	return []route{
		newReadRoute("/profiles", "profiles", "List profiles", profiles.ListProfiles, requireWholeMemoryAccess),
		newReadRoute(
			"/profiles/{name}",
			"profile",
			"Show a profile with all that it extends",
			profiles.ShowProfile,
			requireWholeMemoryAccess,
		),
		newReadRoute(
			"/profiles/{profile}/selection",
			"select",
			"What a profile selects",
			profiles.SelectEntries,
			requireWholeMemoryAccess,
		),
		newReadRoute(
			"/profiles/{name}/budget",
			"budget",
			"Count the tokens of a profile",
			profiles.CountProfileTokens,
			requireWholeMemoryAccess,
		),
		newReadRoute(
			"/profiles/{names}/lint",
			"lint_profile",
			"What the writer of a profile did not mean",
			profiles.LintProfiles,
			requireWholeMemoryAccess,
		),
	}
}
