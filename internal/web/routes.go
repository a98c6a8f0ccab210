// The table of pages and forms.

package web

// route is a path below [page.Root] and what answers it.
type route struct {
	method, path string
	handle       handler
}

// routes are all pages and forms, but for those of signing in. A form's path is below
// that of the page that has it.
var routes = []route{
	{"GET", "{$}", today},
	{"GET", "entries/{name}", entry},
	{"GET", "entries/{name}/raw", raw},
	{"GET", "entries/{name}/edit", editPage},
	{"POST", "entries/{name}/edit", save},
	{"GET", "entries/{name}/versions", versions},
	{"POST", "entries/{name}/restore", restore},
	{"GET", "entries/{name}/lineage", lineageOf},
	{"POST", "entries/{name}/approve", approve},
	{"POST", "entries/{name}/pin", pin},
	{"POST", "entries/{name}/forget", forget},
	{"GET", "entries/{name}/redact", redactPage},
	{"POST", "entries/{name}/redact", redact},
	{"GET", "new", newPage},
	{"POST", "new", add},
	{"GET", "events", events},
	{"GET", "find", find},
	{"POST", "find/label", labelTicked},
	{"POST", "find/forget", forgetTicked},
	{"GET", "log", changes},
	{"GET", "log/{seq}", oneChange},
	{"GET", "log/revert", revertPage},
	{"POST", "log/revert", revertSession},
	{"POST", "undo", undo},

	{"POST", "changed/keep", keepChanged},
	{"POST", "changed/restore", restoreChanged},
	{"GET", "inbox", inbox},
	{"GET", "inbox/{id}", proposal},
	{"POST", "inbox/accept", acceptProposal},
	{"POST", "inbox/drop", dropProposals},
	{"POST", "inbox/reopen", reopenProposals},
	{"POST", "inbox/approve", approveHeld},
	{"POST", "inbox/approve-group", approveGroup},
	{"POST", "inbox/forget", forgetHeld},

	{"GET", "sessions", listSessions},
	{"GET", "sessions/{client}/{session}", showSession},
	{"GET", "sessions/{client}/{session}/export", exportSession},
	{"GET", "sessions/{client}/{session}/note", noteForm},
	{"POST", "sessions/{client}/{session}/note", noteTurn},
	{"GET", "sessions/{client}/{session}/forget", forgetForm},
	{"POST", "sessions/{client}/{session}/forget", forgetSession},
	{"POST", "sessions/restore", restoreSession},

	{"GET", "context", whole(showContext)},
	{"GET", "ask", ask},
	{"GET", "profiles", whole(profiles)},
	{"GET", "profiles/{name}", whole(showProfile)},
	{"GET", "handoffs", handoffs},
	{"GET", "handoffs/{name}", showHandoff},
	{"POST", "handoffs/{name}/drop", dropHandoff},
	{"GET", "annotations", annotationsPage},

	{"GET", "map", showMap},
	{"GET", "numbers", numbers},

	{"GET", "settings", whole(settings)},
	{"POST", "settings/inject", personal(switchInject)},
	{"POST", "settings/check", whole(check)},
	{"POST", "settings/backup", personal(backup)},

	{"GET", "{rest...}", nothingHere},
}
