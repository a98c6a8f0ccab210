// This file contains the table of pages and forms.

package web

// pageRoute is the method and the path of requests, relative to [page.RootPath], and their handler.
type pageRoute struct {
	method, path string
	handle       pageHandler
}

// pageRoutes lists all pages and forms, except those for signing in. A form's path is below the path of its page.
var pageRoutes = []pageRoute{
	{"GET", "{$}", todayPage},
	{"GET", "entries/{name}", entryPage},
	{"GET", "entries/{name}/raw", rawEntryText},
	{"GET", "entries/{name}/edit", editPage},
	{"POST", "entries/{name}/edit", saveEdit},
	{"GET", "entries/{name}/versions", versionListPage},
	{"POST", "entries/{name}/restore", restoreVersion},
	{"GET", "entries/{name}/lineage", lineagePage},
	{"POST", "entries/{name}/approve", approveEntry},
	{"POST", "entries/{name}/pin", pinEntry},
	{"POST", "entries/{name}/forget", forgetEntry},
	{"GET", "entries/{name}/redact", redactPage},
	{"POST", "entries/{name}/redact", redactEntry},
	{"GET", "entries/{name}/share", requirePersonWithFullAccess(sharePage)},
	{"POST", "entries/{name}/share", requirePersonWithFullAccess(shareEntryWithTeam)},
	{"GET", "new", newEntryPage},
	{"POST", "new", addEntry},
	{"GET", "events", eventsPage},
	{"GET", "find", findPage},
	{"POST", "find/label", labelTickedEntries},
	{"POST", "find/forget", forgetTickedEntries},
	{"GET", "log", changesPage},
	{"GET", "log/{seq}", changeDetailPage},
	{"GET", "log/revert", revertSessionPage},
	{"POST", "log/revert", revertSession},
	{"POST", "undo", undoChanges},

	{"POST", "changed/keep", keepAgentChange},
	{"POST", "changed/restore", restorePersonText},
	{"GET", "inbox", inboxPage},
	{"GET", "inbox/group/{id}", importGroupPage},
	{"GET", "inbox/{id}", proposalPage},
	{"POST", "inbox/accept", acceptProposal},
	{"POST", "inbox/drop", dropProposals},
	{"POST", "inbox/reopen", reopenProposals},
	{"POST", "inbox/approve", approveHeldEntry},
	{"POST", "inbox/approve-group", approveImportGroup},
	{"POST", "inbox/forget", forgetQuarantinedEntry},
	{"GET", "inbox/held/{name}", quarantinedEntryPage},
	{"POST", "inbox/approve-set", approveQuarantinedGroup},
	{"POST", "inbox/forget-set", forgetQuarantinedGroup},

	{"GET", "sessions", sessionsPage},
	{"GET", "sessions/{client}/{session}", sessionTurnsPage},
	{"GET", "sessions/{client}/{session}/export", exportSession},
	{"GET", "sessions/{client}/{session}/note", noteFormPage},
	{"POST", "sessions/{client}/{session}/note", saveTurnNote},
	{"GET", "sessions/{client}/{session}/forget", forgetSessionPage},
	{"POST", "sessions/{client}/{session}/forget", forgetSession},
	{"POST", "sessions/restore", restoreSession},

	{"GET", "context", requireWholeMemoryAccess(contextPage)},
	{"GET", "ask", redirectOldAskPage},
	{"GET", "profiles", requireWholeMemoryAccess(profilesPage)},
	{"GET", "profiles/{name}", requireWholeMemoryAccess(profilePage)},
	{"GET", "handoffs", handoffsPage},
	{"GET", "handoffs/{name}", handoffPage},
	{"POST", "handoffs/{name}/drop", dropHandoff},
	{"GET", "annotations", annotationsPage},

	{"GET", "transfer", transferPage},
	{"GET", "transfer/export", exportEntries},
	{"POST", uploadPreviewPath, requirePersonWithFullAccess(previewImport)},
	{"POST", "transfer/import", requirePersonWithFullAccess(importUpload)},

	{"POST", "transfer/folder", requirePersonWithFullAccess(followFolder)},
	{"POST", "transfer/compare", requirePersonWithFullAccess(compareFolders)},
	{"POST", "transfer/unfollow", requirePersonWithFullAccess(unfollowFolder)},

	{"GET", "map", entryMapPage},
	{"GET", "numbers", statisticsPage},

	{"GET", "settings", requireWholeMemoryAccess(settingsPage)},
	{"POST", "settings/inject", requirePersonWithFullAccess(switchInjection)},
	{"POST", "settings/check", requireWholeMemoryAccess(checkMemory)},
	{"POST", "settings/backup", requirePersonWithFullAccess(backUpMemory)},

	{"GET", "{rest...}", notFoundPage},
}
