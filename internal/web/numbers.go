// This file is the page of statistics: activity, growth, projects, and what models were
// shown, as charts.

package web

import (
	"time"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/injection"
	"github.com/oxbow-memory/oxbow/internal/verb/labels"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

const (
	numberDays   = 30
	mostProjects = 12
)

func numbersPage(c *call) (reply, error) {
	most := oxbow.MaxLimit
	changes, err := verb.History(c.ctx, c.work, verb.HistoryIn{Limit: &most})
	if err != nil {
		return nil, err
	}
	entries, err := verb.List(c.ctx, c.work, verb.ListIn{Limit: &most})
	if err != nil {
		return nil, err
	}
	labels, err := labels.Labels(c.ctx, c.work, labels.LabelsIn{Key: oxbow.LabelProject})
	if err != nil {
		return nil, err
	}
	activity, growth := c.countDays(), c.countDays()
	for _, ch := range changes.Changes {
		activity.add(page.Moment(ch.Time), 1)
	}
	for _, e := range entries.Entries {
		growth.add(page.Moment(e.Created), 1)
	}
	var projects []page.Bar
	for _, l := range labels.Labels[:min(mostProjects, len(labels.Labels))] {
		projects = append(projects, page.Bar{Name: l.Value, Value: l.Entries})
	}
	s := screen{
		title:   "Numbers",
		navPath: "numbers",
		lead:    h.P(h.Class("lead"), h.Textf("The last %d days.", numberDays)),
		body: []g.Node{
			page.Section("activity", "Changes each day", page.Bars("Changes each day", "changes", activity.bars)),
			page.Section(
				"growth",
				"Number of entries",
				page.Bars("Number of entries", "entries", growth.upTo(entries.Total)),
			),
			g.If(
				len(projects) > 0,
				page.Section(
					"projects",
					"Entries in each project",
					page.Shares("Entries in each project", "entries", projects),
				),
			)},
	}
	if c.work.Sessions == nil {
		return s, nil
	}
	out, err := injection.Injected(c.ctx, c.work, injection.InjectedIn{Since: "30d", Limit: &most})
	if err != nil {
		return nil, err
	}
	tokens, used := c.countDays(), c.countDays()
	for _, i := range out.Injections {
		tokens.add(i.Time, i.Tokens)
		used.add(i.Time, min(1, len(i.Used)))
	}
	s.body = append(
		s.body,
		page.Section(
			"tokens",
			"Tokens shown to agents",
			h.P(h.Textf(
				"Notes were shown %s, %d tokens in all. An agent used an entry of %d of these.",
				page.Plural(out.Total.Injections, "time"),
				out.Total.Tokens,
				out.Total.Used,
			)),
			page.Bars("Tokens shown to agents", "tokens", tokens.bars),
		),
		page.Section(
			"used",
			"How often agents used a shown note",
			page.Bars("How often agents used a shown note", "times", used.bars),
		),
	)
	return s, nil
}

// days are bars with one number for each of the last days.
type days struct {
	bars []page.Bar
	zone *time.Location
	at   map[string]int // index in bars, by date
}

func (c *call) countDays() days {
	d := days{zone: c.now.Location(), at: map[string]int{}}
	for i := range numberDays {
		date := c.now.AddDate(0, 0, i+1-numberDays).Format(time.DateOnly)
		d.at[date] = i
		d.bars = append(d.bars, page.Bar{Name: date})
	}
	return d
}

func (d *days) add(t time.Time, n int) {
	if i, ok := d.at[t.In(d.zone).Format(time.DateOnly)]; ok {
		d.bars[i].Value += n
	}
}

// upTo turns daily additions into running totals that end at total.
func (d *days) upTo(total int) []page.Bar {
	for i := len(d.bars) - 1; i >= 0; i-- {
		came := d.bars[i].Value
		d.bars[i].Value = total
		total -= came
	}
	return d.bars
}
