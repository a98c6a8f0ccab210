// This file groups the entries in the inbox by the session or import that wrote them, and decides
// about a whole group at once.

package web

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb/labels"
	"github.com/oxbow-memory/oxbow/internal/verb/review"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// quarantinedEntryGroup contains entries that came from the same session or the same import. Models do not get these
// entries before a person approves the entries.
type quarantinedEntryGroup struct {
	groupKey string
	entries  []labels.QuarantinedEntry
}

// quarantinedGroupKey returns a key for the session or the import that wrote an entry. The inbox shows entries with
// the same key as one group.
func quarantinedGroupKey(e labels.QuarantinedEntry) string {
	switch {
	case e.Session != "":
		return "session:" + e.Session
	case e.ImportSource != "":
		return "import:" + e.ImportSource
	}
	return "other"
}

// groupQuarantinedEntries groups entries by the session or the import that wrote them. The groups are in the order of
// their first entries.
func groupQuarantinedEntries(entries []labels.QuarantinedEntry) (sets []quarantinedEntryGroup) {
	index := map[string]int{}
	for _, e := range entries {
		key := quarantinedGroupKey(e)
		i, ok := index[key]
		if !ok {
			i = len(sets)
			index[key] = i
			sets = append(sets, quarantinedEntryGroup{groupKey: key})
		}
		sets[i].entries = append(sets[i].entries, e)
	}
	return sets
}

// highestVersion returns the highest version number of the group's entries. The form with the group's buttons contains
// this number. A decision about the group ignores higher versions, because the person has not seen them.
func (s quarantinedEntryGroup) highestVersion() (highest uint64) {
	for _, e := range s.entries {
		highest = max(highest, e.Version)
	}
	return highest
}

// title returns the heading of a group, which says from which session or import its entries come.
func (s quarantinedEntryGroup) title() g.Node {
	count := page.CountWithNoun(len(s.entries), "note")
	kind, from, _ := strings.Cut(s.groupKey, ":")
	switch kind {
	case "session":
		client, id, _ := strings.Cut(from, "/")
		return g.Group{h.Text(count + " of "), h.A(h.Href(page.RootPath+page.SessionPath(client, id, 0)),
			h.Text("a session of "), page.IsolatedText(client))}
	case "import":
		return g.Group{h.Text(count + " imported from "), h.Span(h.Title(page.VisibleText(from)),
			page.IsolatedText(path.Base(strings.ReplaceAll(from, `\`, "/"))))}
	}
	return h.Text(count + " from other sources")
}

// groupHeadingRow is the row above a group of entries that one session or import wrote. row is the number of the row
// after it.
func (c *pageRequest) groupHeadingRow(s quarantinedEntryGroup, row int) g.Node {
	fields := []string{"set", s.groupKey, "version", formatNumber(s.highestVersion()), "row", strconv.Itoa(row)}
	return c.groupHeadRow(s.title(), len(s.entries), "inbox/approve-set", "inbox/forget-set", fields)
}

// proposalsHeadingRow is the row above the proposals.
func (c *pageRequest) proposalsHeadingRow(waitingProposalIDs []string) g.Node {
	fields := []string{"row", "0"}
	for _, id := range waitingProposalIDs {
		fields = append(fields, "id", id)
	}
	title := h.Text(page.CountWithNoun(len(waitingProposalIDs), "sentence") + " that you said to agents")
	return c.groupHeadRow(title, len(waitingProposalIDs), "inbox/accept", "inbox/drop", fields)
}

// groupHeadRow returns a row with a title, to show above a group of count rows. If the group has more than one row, and
// the user is a person who may write, the title row also has buttons that approve or reject the whole group. The
// buttons send the form fields in the list fields to approvePath or rejectPath. This list alternates between a name and
// a value.
func (c *pageRequest) groupHeadRow(title g.Node, count int, approvePath, rejectPath string, fields []string) g.Node {
	return h.Li(h.Class("row group"), h.Div(h.Class("head"), h.H2(title)),
		g.If(count > 1 && c.mayWrite() && c.actor == oxbow.Person,
			h.Form(
				h.Class("actions"),
				h.Method("post"),
				h.Action(page.RootPath+approvePath),
				page.HiddenFields(fields...),
				h.Button(h.Attr("data-key", "A"), h.Textf("Approve all %d", count)),
				h.Button(
					h.Attr("data-key", "R"),
					h.FormAction(page.RootPath+rejectPath),
					h.Textf("Reject all %d", count),
				),
			)))
}

// quarantinedEntryRows returns rows for the entries in the groups, with a heading above each group. It shows at most
// maxInboxRows entries. The argument row is the row number of the first entry. shownCount is the number of shown
// entries.
func (c *pageRequest) quarantinedEntryRows(sets []quarantinedEntryGroup, row int) (rows g.Group, shownCount int) {
	for _, s := range sets {
		if shownCount == maxInboxRows {
			break
		}
		rows = append(rows, c.groupHeadingRow(s, row+shownCount))
		for _, e := range s.entries[:min(len(s.entries), maxInboxRows-shownCount)] {
			rows = append(rows, c.quarantinedEntryRow(e, row+shownCount, shortenedTextSize))
			shownCount++
		}
	}
	return rows, shownCount
}

// submittedGroupVersions returns the versions of the entries in the group about which the person has decided with the
// form, by the entries' names. It leaves out entries that were written or changed after the page was shown.
func (c *pageRequest) submittedGroupVersions() (map[string]uint64, error) {
	last := c.formEntryVersion()
	if last == nil {
		return nil, &oxbow.InvalidError{Field: "version", Reason: "is missing; reload the inbox"}
	}
	held, err := c.listHeldEntries()
	if err != nil {
		return nil, err
	}
	versions := map[string]uint64{}
	for _, s := range groupQuarantinedEntries(held.Entries) {
		if s.groupKey != c.formValue("set") {
			continue
		}
		for _, e := range s.entries {
			if e.Version <= *last {
				versions[e.Name] = e.Version
			}
		}
	}
	if len(versions) == 0 {
		return nil, &oxbow.InvalidError{Field: "set", Reason: "contains nothing that still waits; reload the inbox"}
	}
	return versions, nil
}

// approveQuarantinedGroup approves all entries of the group that was submitted with the form, in a single change. The
// entries of a group come from the same session or import. Entries that were changed after the page was shown are left
// out.
func approveQuarantinedGroup(c *pageRequest) (pageReply, error) {
	shown, err := c.submittedGroupVersions()
	if err != nil {
		return nil, err
	}
	out, err := labels.ApproveEntries(c.ctx, c.workspace, labels.ApproveEntriesIn{
		EntryNames:    slices.Sorted(maps.Keys(shown)),
		ShownVersions: shown,
	})
	if err != nil {
		return nil, err
	}
	return redirectReply{path: c.nextInboxPath(), changeNumber: out.Seq}, nil
}

// forgetQuarantinedGroup forgets the quarantined entries of the session or the import that the person has chosen in the
// form. Entries that were changed after the form was shown are left out. The request is refused unless it is from a
// person who may write and sees the whole memory. The next page has a button that restores all forgotten entries.
func forgetQuarantinedGroup(c *pageRequest) (pageReply, error) {
	if no := c.refusalForNonPerson(); no != nil {
		return no, nil
	}
	shown, err := c.submittedGroupVersions()
	if err != nil {
		return nil, err
	}
	to, err := c.forgetEntries(slices.Sorted(maps.Keys(shown)))
	to.path = c.nextInboxPath()
	return to, err
}

// acceptProposals makes notes from several proposals without changing their texts.
func acceptProposals(c *pageRequest, ids []string) (pageReply, error) {
	out, err := review.AcceptProposals(c.ctx, c.workspace, review.AcceptProposalsIn{IDs: ids})
	if err != nil {
		return nil, err
	}
	to := redirectReply{path: c.nextInboxPath()}
	for _, n := range out.NewNotes {
		if n.EntryOutcome == "unchanged" {
			continue
		}
		if to.changeNumber != 0 {
			to.earlierChanges = append(to.earlierChanges, to.changeNumber)
		}
		to.changeNumber = n.Version
	}
	return to, nil
}

// quarantinedEntryPage returns the page of a quarantined entry, which is held back until a person approves it. The page
// shows the whole text of the entry. If the entry is not quarantined, quarantinedEntryPage redirects to the entry's
// usual page.
func quarantinedEntryPage(c *pageRequest) (pageReply, error) {
	held, err := c.listHeldEntries()
	if err != nil {
		return nil, err
	}
	for _, e := range held.Entries {
		if oxbow.SameName(e.Name, c.r.PathValue("name")) {
			return pageWithNavigation{title: "Held back", navPath: "inbox", bodyNodes: []g.Node{
				c.noDecisionRightNotice(),
				h.Ol(
					h.Class("rows cards"),
					h.Attr("data-keys", ""),
					c.quarantinedEntryRow(e, c.formNumber("row", 0), wholeTextSize),
				),
			}}, nil
		}
	}
	return redirectReply{path: page.EntryPath(c.r.PathValue("name"))}, nil
}
