// This file counts the proposals, entries and imports that wait for a person's decision. The navigation and the start
// page show the count.

package web

import (
	"github.com/oxbow-memory/oxbow/internal/verb/labels"
	"github.com/oxbow-memory/oxbow/internal/verb/review"
)

// listHeldEntries returns the entries that are held back until a person approves them. The result is shared between
// requests and must not be modified.
func (c *pageRequest) listHeldEntries() (labels.ListQuarantinedEntriesOut, error) {
	return cacheUntilMemoryChange(c, &c.caches.heldEntries, "", func() (labels.ListQuarantinedEntriesOut, error) {
		return labels.ListQuarantinedEntries(c.ctx, c.workspace, labels.ListQuarantinedEntriesIn{})
	})
}

// countPendingDecisions returns the number of proposals, held entries, and imports that wait for a decision.
func (c *pageRequest) countPendingDecisions() (n int) {
	if c.workspace.Sessions != nil {
		if inbox, err := review.ListProposals(c.ctx, c.workspace, review.InboxIn{}); err == nil {
			n += len(inbox.Proposals)
		}
	}
	if held, err := c.listHeldEntries(); err == nil {
		n += len(held.Entries) + len(held.Groups)
	}
	return n
}
