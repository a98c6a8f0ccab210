// This file implements the page with statistics. Charts show activity, growth, projects, and what models were shown.

package web

import (
	"slices"
	"time"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb/injection"
	"github.com/oxbow-memory/oxbow/internal/verb/labels"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

const (
	statisticsDays = 30
	maxProjects    = 12
)

func statisticsPage(c *pageRequest) (pageReply, error) {
	days := c.statisticsDayStarts()
	daily, err := c.readDailyStats(days)
	if err != nil {
		return nil, err
	}
	projects, err := c.largestProjects()
	if err != nil {
		return nil, err
	}
	s := pageWithNavigation{
		title:           "Numbers",
		navPath:         "numbers",
		descriptionLine: h.P(h.Class("lead"), h.Textf("The last %d days.", statisticsDays)),
		bodyNodes: []g.Node{
			g.Iff(daily.ChangeCounts != nil, func() g.Node {
				return page.Section("activity", "Changes each day",
					page.BarChart("Changes each day", "changes", days.dayBars(daily.ChangeCounts)))
			}),
			page.Section("growth", "Number of entries",
				page.BarChart("Number of entries", "entries", days.dayBars(daily.EntryCounts))),
			g.If(
				len(projects) > 0,
				page.Section(
					"projects",
					"Entries in each project",
					page.HorizontalBarChart("Entries in each project", "entries", projects),
				),
			)},
	}
	if c.workspace.Sessions == nil {
		return s, nil
	}
	most := oxbow.MaxLimit
	out, err := injection.ListInjections(c.ctx, c.workspace, injection.InjectedIn{Since: "30d", Limit: &most})
	if err != nil {
		return nil, err
	}
	tokens, used := make([]int, statisticsDays), make([]int, statisticsDays)
	for _, i := range out.Injections {
		if day := days.dayIndex(i.Time); day >= 0 {
			tokens[day] += i.TokenCount
			used[day] += min(1, len(i.EntriesUsedInTurn))
		}
	}
	s.bodyNodes = append(
		s.bodyNodes,
		page.Section(
			"tokens",
			"Tokens shown to agents",
			h.P(h.Textf(
				"Notes were shown %s, %d tokens in all. An agent used an entry of %d of these.",
				page.CountWithNoun(out.Total.Injections, "time"),
				out.Total.InjectedTokens,
				out.Total.UsedInjections,
			)),
			page.BarChart("Tokens shown to agents", "tokens", days.dayBars(tokens)),
		),
		page.Section(
			"used",
			"How often agents used a shown note",
			page.BarChart("How often agents used a shown note", "times", days.dayBars(used)),
		),
	)
	return s, nil
}

// dayStartTimes contains the start of each day on the page "Numbers", oldest first.
type dayStartTimes []time.Time

func (c *pageRequest) statisticsDayStarts() (dayStarts dayStartTimes) {
	year, month, day := c.now.Date()
	for i := range statisticsDays {
		dayStarts = append(dayStarts, time.Date(year, month, day+i+1-statisticsDays, 0, 0, 0, 0, c.now.Location()))
	}
	return dayStarts
}

// dayIndex returns the index of the day that contains a time, or -1 if the time is before the first day.
func (d dayStartTimes) dayIndex(t time.Time) int {
	i, isStart := slices.BinarySearchFunc(d, t, time.Time.Compare)
	if isStart {
		return i
	}
	return i - 1
}

// dayBars returns a bar for each day. The bars have the given values.
func (d dayStartTimes) dayBars(values []int) (bars []page.ChartBar) {
	for i, start := range d {
		bars = append(bars, page.ChartBar{Name: start.Format(time.DateOnly), Value: values[i]})
	}
	return bars
}

// readDailyStats returns the number of changes and entries for each day.
func (c *pageRequest) readDailyStats(d dayStartTimes) (maintenance.CollectDailyStatsOut, error) {
	return cacheUntilMemoryChange(
		c,
		&c.caches.dailyStats,
		d[0].Format(time.DateOnly),
		func() (maintenance.CollectDailyStatsOut, error) {
			return maintenance.CollectDailyStats(c.ctx, c.workspace, maintenance.CollectDailyStatsIn{DayStarts: d})
		},
	)
}

// largestProjects returns the projects with the most entries, as bars.
func (c *pageRequest) largestProjects() (projects []page.ChartBar, err error) {
	counts := map[string]int{}
	// Stats counts all projects without reading entries. It returns an error if the browser sees only a part of the
	// memory.
	if st, err := maintenance.Stats(c.ctx, c.workspace, maintenance.StatsIn{}); err == nil {
		counts = st.Projects
	} else {
		out, err := labels.ListLabels(c.ctx, c.workspace, labels.ListLabelsIn{Key: oxbow.LabelProject})
		if err != nil {
			return nil, err
		}
		for _, l := range out.Labels {
			counts[l.Value] = l.EntryCount
		}
	}
	for _, name := range sortKeysByCount(counts)[:min(maxProjects, len(counts))] {
		projects = append(projects, page.ChartBar{Name: name, Value: counts[name]})
	}
	return projects, nil
}
