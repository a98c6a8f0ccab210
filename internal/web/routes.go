// This file is the table of pages and forms.

package web

// route is a method and a path below [page.Root], with their handler.
type route struct {
	method, path string
	handle       handler
}

// routes are all pages and forms except those for signing in. A form's path is below the
// path of the page that contains it.
var routes = []route{
	{"GET", "{$}", today},
	{"GET", "entries/{name}", entry},
	{"GET", "entries/{name}/raw", raw},
	{"GET", "entries/{name}/edit", editPage},
	{"POST", "entries/{name}/edit", save},
	{"GET", "entries/{name}/versions", showVersions},
	{"POST", "entries/{name}/restore", restore},
	{"GET", "entries/{name}/lineage", lineagePage},
	{"POST", "entries/{name}/approve", approve},
	{"POST", "entries/{name}/pin", pin},
	{"POST", "entries/{name}/forget", forget},
	{"GET", "entries/{name}/redact", redactPage},
	{"POST", "entries/{name}/redact", redact},
	{"GET", "entries/{name}/share", personOnly(sharePage)},
	{"POST", "entries/{name}/share", personOnly(shareEntry)},
	{"GET", "new", newPage},
	{"POST", "new", add},
	{"GET", "events", eventsPage},
	{"GET", "find", find},
	{"POST", "find/label", labelTicked},
	{"POST", "find/forget", forgetTicked},
	{"GET", "log", changesPage},
	{"GET", "log/{seq}", oneChange},
	{"GET", "log/revert", revertPage},
	{"POST", "log/revert", revertSession},
	{"POST", "undo", undo},

	{"POST", "changed/keep", keepChanged},
	{"POST", "changed/restore", restoreChanged},
	{"GET", "inbox", inbox},
	{"GET", "inbox/group/{id}", groupPage},
	{"GET", "inbox/{id}", proposal},
	{"POST", "inbox/accept", acceptProposal},
	{"POST", "inbox/drop", dropProposals},
	{"POST", "inbox/reopen", reopenProposals},
	{"POST", "inbox/approve", approveHeld},
	{"POST", "inbox/approve-group", approveGroup},
	{"POST", "inbox/forget", forgetHeld},
	{"GET", "inbox/held/{name}", heldPage},
	{"POST", "inbox/approve-set", approveSet},
	{"POST", "inbox/forget-set", forgetSet},

	{"GET", "sessions", listSessions},
	{"GET", "sessions/{client}/{session}", showSession},
	{"GET", "sessions/{client}/{session}/export", exportSession},
	{"GET", "sessions/{client}/{session}/note", noteForm},
	{"POST", "sessions/{client}/{session}/note", noteTurn},
	{"GET", "sessions/{client}/{session}/forget", forgetForm},
	{"POST", "sessions/{client}/{session}/forget", forgetSession},
	{"POST", "sessions/restore", restoreSession},

	{"GET", "context", wholeMemoryOnly(showContext)},
	{"GET", "ask", ask},
	{"GET", "profiles", wholeMemoryOnly(listProfiles)},
	{"GET", "profiles/{name}", wholeMemoryOnly(showProfile)},
	{"GET", "handoffs", handoffsPage},
	{"GET", "handoffs/{name}", showHandoff},
	{"POST", "handoffs/{name}/drop", dropHandoff},
	{"GET", "annotations", annotationsPage},

	{"GET", "transfer", transferPage},
	{"GET", "transfer/export", exportEntries},
	{"POST", previewPath, personOnly(previewImport)},
	{"POST", "transfer/import", personOnly(importUpload)},

	{"POST", "transfer/folder", personOnly(followFolder)},
	{"POST", "transfer/compare", personOnly(compareFolders)},
	{"POST", "transfer/unfollow", personOnly(unfollowFolder)},

	{"GET", "map", showMap},
	{"GET", "numbers", numbersPage},

	{"GET", "settings", wholeMemoryOnly(settingsPage)},
	{"POST", "settings/inject", personOnly(switchInject)},
	{"POST", "settings/check", wholeMemoryOnly(check)},
	{"POST", "settings/backup", personOnly(backup)},

	{"GET", "{rest...}", nothingHere},
}
