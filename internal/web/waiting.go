// This file counts the proposals, entries and imports that wait for a person's decision. The navigation and the start
// page show the count.

package web

import (
	"github.com/oxbow-memory/oxbow/internal/verb/labels"
	"github.com/oxbow-memory/oxbow/internal/verb/review"
)

// listHeld lists the entries that are held back. The result is shared and must not be changed.
func (c *call) listHeld() (labels.HeldOut, error) {
	return keep(c, &c.caches.held, "", func() (labels.HeldOut, error) {
		return labels.Held(c.ctx, c.work, labels.HeldIn{})
	})
}

// countWaiting returns the number of proposals, entries that are held back, and imports that wait for a
// decision.
func (c *call) countWaiting() (n int) {
	if c.work.Sessions != nil {
		if inbox, err := review.Inbox(c.ctx, c.work, review.InboxIn{}); err == nil {
			n += len(inbox.Proposals)
		}
	}
	if held, err := c.listHeld(); err == nil {
		n += len(held.Entries) + len(held.Groups)
	}
	return n
}
