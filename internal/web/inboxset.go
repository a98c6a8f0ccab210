// This file groups the entries in the inbox by the session or import that wrote them, and decides
// about a whole group at once.

package web

import (
	"path"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb/labels"
	"github.com/oxbow-memory/oxbow/internal/verb/review"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// heldSet are the entries of one session or import that are held back.
type heldSet struct {
	key     string
	entries []labels.HeldEntry
}

// setKey identifies the session or import of an entry that is held back.
func setKey(e labels.HeldEntry) string {
	switch {
	case e.Session != "":
		return "session:" + e.Session
	case e.From != "":
		return "import:" + e.From
	}
	return "other"
}

// heldSets groups entries, in the order of each group's first entry.
func heldSets(entries []labels.HeldEntry) (sets []heldSet) {
	index := map[string]int{}
	for _, e := range entries {
		key := setKey(e)
		i, ok := index[key]
		if !ok {
			i = len(sets)
			index[key] = i
			sets = append(sets, heldSet{key: key})
		}
		sets[i].entries = append(sets[i].entries, e)
	}
	return sets
}

// lastVersion returns the highest version in the set. A decision about the set leaves out newer
// versions, which the page did not show.
func (s heldSet) lastVersion() (last uint64) {
	for _, e := range s.entries {
		last = max(last, e.Version)
	}
	return last
}

// title says where the entries of the set come from.
func (s heldSet) title() g.Node {
	count := page.Plural(len(s.entries), "note")
	kind, from, _ := strings.Cut(s.key, ":")
	switch kind {
	case "session":
		client, id, _ := strings.Cut(from, "/")
		return g.Group{h.Text(count + " of "), h.A(h.Href(page.Root+page.SessionPath(client, id, 0)),
			h.Text("a session of "), page.Isolated(client))}
	case "import":
		return g.Group{h.Text(count + " imported from "), h.Span(h.Title(page.Visible(from)),
			page.Isolated(path.Base(strings.ReplaceAll(from, `\`, "/"))))}
	}
	return h.Text(count + " from other sources")
}

// setHead is the row above the entries of a set. The next row has number row.
func (c *call) setHead(s heldSet, row int) g.Node {
	fields := []string{"set", s.key, "version", number(s.lastVersion()), "row", strconv.Itoa(row)}
	return c.groupHeadRow(s.title(), len(s.entries), "inbox/approve-set", "inbox/forget-set", fields)
}

// proposalsHead is the row above the proposals.
func (c *call) proposalsHead(waiting []string) g.Node {
	fields := []string{"row", "0"}
	for _, id := range waiting {
		fields = append(fields, "id", id)
	}
	title := h.Text(page.Plural(len(waiting), "sentence") + " that you said to agents")
	return c.groupHeadRow(title, len(waiting), "inbox/accept", "inbox/drop", fields)
}

// groupHeadRow is a row with a title, and with buttons that decide about count rows below it.
func (c *call) groupHeadRow(title g.Node, count int, approve, reject string, fields []string) g.Node {
	return h.Li(h.Class("row group"), h.Div(h.Class("head"), h.H2(title)),
		g.If(count > 1 && c.mayWrite() && c.actor == oxbow.Person,
			h.Form(h.Class("actions"), h.Method("post"), h.Action(page.Root+approve), page.Hidden(fields...),
				h.Button(h.Attr("data-key", "A"), h.Textf("Approve all %d", count)),
				h.Button(h.Attr("data-key", "R"), h.FormAction(page.Root+reject), h.Textf("Reject all %d", count)))))
}

// heldRows shows sets of entries that are held back, at most waitingShown entries. The first entry
// has number row. It also returns the number of shown entries.
func (c *call) heldRows(sets []heldSet, row int) (rows g.Group, shown int) {
	for _, s := range sets {
		if shown == waitingShown {
			break
		}
		rows = append(rows, c.setHead(s, row+shown))
		for _, e := range s.entries[:min(len(s.entries), waitingShown-shown)] {
			rows = append(rows, c.heldRow(e, row+shown, clippedText))
			shown++
		}
	}
	return rows, shown
}

// setOfForm returns the entries of the set that the form names, as far as the page has shown their
// versions.
func (c *call) setOfForm() (names []string, err error) {
	last := c.base()
	if last == nil {
		return nil, &oxbow.InvalidError{Field: "version", Reason: "is missing; reload the inbox"}
	}
	held, err := c.listHeld()
	if err != nil {
		return nil, err
	}
	for _, s := range heldSets(held.Entries) {
		if s.key != c.value("set") {
			continue
		}
		for _, e := range s.entries {
			if e.Version <= *last {
				names = append(names, e.Name)
			}
		}
	}
	if names == nil {
		return nil, &oxbow.InvalidError{Field: "set", Reason: "contains nothing that still waits; reload the inbox"}
	}
	return names, nil
}

// approveSet approves all entries of a set, in a single change.
func approveSet(c *call) (reply, error) {
	names, err := c.setOfForm()
	if err != nil {
		return nil, err
	}
	out, err := labels.Approve(c.ctx, c.work, labels.ApproveIn{Names: names})
	if err != nil {
		return nil, err
	}
	return redirect{to: c.next(), change: out.Seq}, nil
}

// forgetSet forgets all entries of a set. The notice on the next page undoes all these changes.
func forgetSet(c *call) (reply, error) {
	if no := c.personsOnly(); no != nil {
		return no, nil
	}
	names, err := c.setOfForm()
	if err != nil {
		return nil, err
	}
	to, err := c.forgetAll(names)
	to.to = c.next()
	return to, err
}

// acceptProposals makes notes of several proposals, without changes.
func acceptProposals(c *call, ids []string) (reply, error) {
	out, err := review.AcceptProposals(c.ctx, c.work, review.AcceptProposalsIn{IDs: ids})
	if err != nil {
		return nil, err
	}
	to := redirect{to: c.next()}
	for _, n := range out.Notes {
		if n.Outcome == "unchanged" {
			continue
		}
		if to.change != 0 {
			to.others = append(to.others, to.change)
		}
		to.change = n.Version
	}
	return to, nil
}

// heldPage is the page of one entry that is held back, with its whole text.
func heldPage(c *call) (reply, error) {
	held, err := c.listHeld()
	if err != nil {
		return nil, err
	}
	for _, e := range held.Entries {
		if oxbow.SameName(e.Name, c.r.PathValue("name")) {
			return screen{title: "Held back", navPath: "inbox", body: []g.Node{
				c.noDecisionNotice(),
				h.Ol(h.Class("rows cards"), h.Attr("data-keys", ""), c.heldRow(e, c.number("row", 0), wholeText)),
			}}, nil
		}
	}
	return redirect{to: page.EntryPath(c.r.PathValue("name"))}, nil
}
