// This file compresses a memory's daily logs into a log for the week, and the logs of weeks and days into a log for the
// month. The new log is called a digest. The compressed logs are moved unchanged to memory/covered, where a search
// still finds them. If the compression is undone, they are moved back.

package coderhapsody

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/layout"
)

// Spans implements [layout.Compressor].
func (h *home) Spans() []string {
	names := make([]string, len(compressionPeriodKinds))
	for i, s := range compressionPeriodKinds {
		names[i] = s.periodKindName
	}
	return names
}

// Compress implements [layout.Compressor]. It replaces the logs of a period, such as a week, by a shorter digest. If
// the request names no period, Compress compresses all periods except for three kinds: periods that have not ended,
// periods that contain one of the two newest logs, and periods that are already compressed. No digest is written for a
// period whose logs contain nothing to summarize.
//
// A digest has an entry for each group of entries whose labels are equal except for tags, files and confidence. The
// entry has the common labels, and all tags and files of the group. If each entry in the group has a confidence, the
// digest's entry has the lowest of these confidences. Tags and files that a memory profile excludes are kept in groups
// of their own. Handoffs are not included. Each period is compressed atomically.
func (h *home) Compress(ctx context.Context, r layout.Compression) ([]layout.Digest, error) {
	if err := h.checkHomeIsUnrestricted(); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(
		compressionPeriodKinds,
		func(s compressionPeriodKind) bool { return s.periodKindName == r.Span },
	)
	if i < 0 {
		return nil, &oxbow.InvalidError{Field: "span", Value: r.Span, Reason: "is not one of " +
			strings.Join(h.Spans(), ", ")}
	}
	if r.Period != "" {
		if _, _, ok := compressionPeriodKinds[i].parsePeriodRange(r.Period, h.Zone); !ok {
			example, _, _ := compressionPeriodKinds[i].periodOfDay(h.Now())
			return nil, &oxbow.InvalidError{Field: r.Span, Value: r.Period, Reason: "is not written as " + example}
		}
	} else if len(r.Texts) > 0 {
		return nil, &oxbow.InvalidError{Field: "text", Reason: "is for one " + r.Span + "; say which"}
	}
	switch {
	case r.Over == 0 && len(r.Texts) > 0:
		r.Over = 1
	case r.Over == 0:
		r.Over = layout.DefaultOver
	}
	var periods []string
	err := h.Tree.ViewTree(ctx, func(v mdtree.TreeView) error {
		periods = h.periodsToCompress(v, compressionPeriodKinds[i], r.Period)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(periods) == 0 && r.Period != "" {
		return nil, &oxbow.InvalidError{
			Field:  r.Span,
			Value:  r.Period,
			Reason: "holds nothing that is not compressed already",
		}
	}
	var done []layout.Digest
	for _, p := range periods {
		var d layout.Digest
		plan := func(v mdtree.TreeView, now time.Time) (edits []mdtree.Edit, err error) {
			d, edits, err = h.planPeriodDigest(v, compressionPeriodKinds[i], p, r, now)
			return edits, err
		}
		if r.Dry {
			err = h.Tree.ViewTree(ctx, func(v mdtree.TreeView) error { _, err := plan(v, h.Now()); return err })
		} else {
			err = h.Tree.Edit(ctx, plan)
		}
		if err != nil {
			return done, fmt.Errorf("compressing %s %s: %w", r.Span, p, err)
		}
		done = append(done, d)
	}
	return done, nil
}

// checkHomeIsUnrestricted returns an error if a profile restricts the home, because a compression needs all entries.
func (h *home) checkHomeIsUnrestricted() error {
	if h.boundProfile != nil {
		return fmt.Errorf(
			"%w: it works on all of the memory, and this is bound to profile %q",
			oxbow.ErrUnsupported,
			h.boundProfile.Name,
		)
	}
	return nil
}

// logsWithoutDigest returns the logs that can be compressed into a digest of a period, the oldest first. A digest is a
// summary of several logs. The argument period is the name of the period, and s is its kind, for example a week. The
// result contains a log if all conditions are met:
//
//   - The log covers a day, or a period shorter than the periods of the kind s.
//   - The log belongs to the period.
//   - No digest covers the log.
//   - The log is longer than minBytes bytes.
func (h *home) logsWithoutDigest(
	v mdtree.TreeView,
	s compressionPeriodKind,
	period string,
	minBytes int,
) []logWithoutDigest {
	var in []logWithoutDigest
	for _, f := range slices.Backward(h.logsWithoutDigestForContext(v)) {
		p, ok := periodNameOfLog(f.logFile, s)
		isInPeriod := ok && p == period
		if isInPeriod && isLonger(v, f.logPath, minBytes) {
			in = append(in, f)
		}
	}
	slices.SortStableFunc(in, func(a, b logWithoutDigest) int { return a.firstDay.Compare(b.firstDay) })
	return in
}

// isLonger reports whether the entries in a log have more than minBytes bytes in total. Handoffs are not counted. For a
// log that cannot be read, the result is true, so that the caller tries to compress the log and reports the error.
func isLonger(v mdtree.TreeView, logPath string, minBytes int) bool {
	if _, ok := v.FileText(logPath); !ok {
		return true
	}
	size := 0
	for _, it := range v.Items(logPath) {
		if it.Entry.Kind != oxbow.Handoff {
			size += len(it.Entry.Content)
		}
	}
	return size > minBytes
}

// periodNameOfLog returns the name of the period into which the log f can be compressed, such as 2026-W16. The argument
// periodKind is the kind of the period, for example a week or a month. The second result is false if f cannot be
// compressed into a period of this kind.
func periodNameOfLog(f logFile, periodKind compressionPeriodKind) (string, bool) {
	isWeekOfMonth := f.spanName == "week" && periodKind.periodKindName == "month"
	isShorter := f.spanName == "day" || isWeekOfMonth
	if f.isInSummarizedLogsDir || !isShorter {
		return "", false
	}
	period, _, _ := periodKind.periodOfDay(f.representativeDay())
	return period, true
}

// periodsToCompress returns the names of all periods with the kind s whose logs can be compressed into a digest (the
// period's summary). The oldest period is first. Such a period meets four conditions:
//   - It contains logs without a digest.
//   - It has ended.
//   - It contains none of the newest logs, because the newest logs stay in the context of the agent.
//   - No digest of the period exists.
//
// If the argument period is not empty, only the first condition is checked. The result then contains only this period,
// or is nil.
func (h *home) periodsToCompress(v mdtree.TreeView, s compressionPeriodKind, period string) []string {
	found := map[string]bool{}
	logs := 0
	recent := map[string]bool{}
	for _, f := range h.logsWithoutDigestForContext(v) {
		p, ok := periodNameOfLog(f.logFile, s)
		if !ok {
			continue
		}
		found[p] = true
		if f.spanName == "day" && logs < minNewestLogsInContext {
			logs++
			recent[p] = true
		}
	}
	if period != "" {
		if found[period] {
			return []string{period}
		}
		return nil
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(found)), func(p string) bool {
		_, to, _ := s.parsePeriodRange(p, h.Zone)
		return recent[p] || h.Now().Before(to) || v.IsPathTaken(digestPath(s, p)) ||
			v.IsPathTaken(pathInSummarizedLogs(digestPath(s, p)))
	})
}

func digestPath(periodKind compressionPeriodKind, period string) string {
	return logDir + "/" + periodKind.periodKindName + "-" + period + ".md"
}

func pathInSummarizedLogs(p string) string { return summarizedLogsDir + "/" + path.Base(p) }

// groupingLabels returns the labels of an entry that decide to which group of a digest the entry belongs. These are all
// labels except the confidence, tags, files, summarizedLabel and digestLabel. A tag or a file in the set excluded is
// also returned. A profile excludes such labels, so their entries must form a separate group.
func groupingLabels(e *oxbow.Entry, excluded map[oxbow.Label]bool) []oxbow.Label {
	return slices.DeleteFunc(slices.Clone(e.Labels), func(l oxbow.Label) bool {
		isJoined := l.Key == oxbow.LabelTag || l.Key == oxbow.LabelFile
		return (isJoined && !excluded[l]) || l.Key == oxbow.LabelConfidence || l == summarizedLabel || l == digestLabel
	})
}

// profileExclusions returns the tags and files that memory profiles of the home exclude. notes name the profiles that
// cannot be read.
func (h *home) profileExclusions() (labels map[oxbow.Label]bool, notes []string) {
	labels = map[oxbow.Label]bool{}
	names, err := h.profiles.Names()
	if err != nil {
		notes = append(notes, "memory profiles cannot be read: "+err.Error())
	}
	for _, name := range names {
		r, err := h.profiles.Resolve(name)
		if err != nil {
			notes = append(notes, fmt.Sprintf("what profile %q excludes is not kept apart: %v", name, err))
			continue
		}
		for _, c := range r.Excludes {
			for _, tag := range c.Tags {
				labels[oxbow.Label{Key: oxbow.LabelTag, Value: tag}] = true
			}
			for _, file := range c.RelatedFiles {
				labels[oxbow.Label{Key: oxbow.LabelFile, Value: file}] = true
			}
		}
	}
	return labels, notes
}

// groupTitle returns the title for a group of compressed entries, which is a list of the labels that they have in
// common.
func groupTitle(labels []oxbow.Label) string {
	words := make([]string, len(labels))
	for i, l := range labels {
		words[i] = l.String()
	}
	return strings.Join(words, " ")
}

// planPeriodDigest returns the digest of a period, and the edits that create it. If compression.Period is "" and the
// period contains nothing to summarize, it returns no edits, and the field Skipped of the digest says why. It returns
// an error if the period has not ended or already has a digest.
func (h *home) planPeriodDigest(
	v mdtree.TreeView,
	periodKind compressionPeriodKind,
	period string,
	compression layout.Compression,
	now time.Time,
) (layout.Digest, []mdtree.Edit, error) {
	p := digestPath(periodKind, period)
	d := &digestBuilder{Digest: layout.Digest{Name: periodKind.periodKindName + "-" +
		period, File: p}, home: h, view: v, entryGroupByTitle: map[string]*digestEntryGroup{}}
	from, to, _ := periodKind.parsePeriodRange(period, h.Zone)
	switch {
	case now.Before(to):
		return d.Digest, nil, &oxbow.InvalidError{
			Field:  periodKind.periodKindName,
			Value:  period,
			Reason: "is not over",
		}
	case v.IsPathTaken(p) || v.IsPathTaken(pathInSummarizedLogs(p)):
		return d.Digest, nil, &oxbow.InvalidError{
			Field: periodKind.periodKindName,
			Value: period,
			Reason: "has a digest already; undo " +
				d.Name + " first, to tell again what was added since",
		}
	}
	var notes []string
	d.excludedLabels, notes = h.profileExclusions()
	d.Notes = append(d.Notes, notes...)
	if err := d.planLogMoves(h.logsWithoutDigest(v, periodKind, period, compression.Over)); err != nil {
		return d.Digest, nil, err
	}
	if len(d.entryGroupByTitle) == 0 {
		why := "holds nothing that a digest could tell"
		if len(
			h.logsWithoutDigest(v, periodKind, period, 0),
		) > len(
			h.logsWithoutDigest(v, periodKind, period, compression.Over),
		) {
			why = fmt.Sprintf("has no log of more than %d bytes", compression.Over)
		}
		if compression.Period == "" {
			return layout.Digest{Name: d.Name, File: p, Covers: []string{}, Parts: []layout.DigestPart{},
				Notes: d.Notes, Skipped: why}, nil, nil
		}
		return d.Digest, nil, &oxbow.InvalidError{Field: periodKind.periodKindName, Value: period, Reason: why}
	}
	for title := range compression.Texts {
		if d.entryGroupByTitle[title] == nil {
			return d.Digest, nil, &oxbow.InvalidError{
				Field: "text",
				Value: title,
				Reason: "is for a group that is not there; there are " + quoteWords(
					slices.Sorted(maps.Keys(d.entryGroupByTitle)),
				),
			}
		}
	}
	d.digestText = parseLog("", nil)
	for _, title := range slices.Sorted(maps.Keys(d.entryGroupByTitle)) {
		if err := d.addGroup(d.entryGroupByTitle[title], from, compression.Texts); err != nil {
			return d.Digest, nil, err
		}
	}
	if err := h.checkTextParsesToEntries(p, d.digestText.text, d.digestEntries); err != nil {
		return d.Digest, nil, err
	}
	return d.Digest, append(d.logMoveEdits, mdtree.Edit{Path: p, Text: d.digestText.text}), nil
}

// digestBuilder creates the digest of a period.
type digestBuilder struct {
	layout.Digest
	home *home
	view mdtree.TreeView
	// groups of entries that become one entry of the digest, by the group's title
	entryGroupByTitle map[string]*digestEntryGroup
	digestEntries     []oxbow.Entry // entries of the digest
	digestText        *logText      // text of the digest
	logMoveEdits      []mdtree.Edit // edits that move the summarized logs to the directory summarizedLogsDir

	excludedLabels map[oxbow.Label]bool // tags and files that profiles exclude
}

// planLogMoves adds to d.logMoveEdits the edits that move the logs to summarizedLogsDir. It also divides the entries of
// these logs into groups, in d.entryGroupByTitle. A log that cannot be read stays, and d.Notes mentions it.
func (d *digestBuilder) planLogMoves(logs []logWithoutDigest) error {
	for _, f := range logs {
		text, ok := d.view.FileText(f.logPath)
		if !ok {
			d.Notes = append(d.Notes, f.logPath+" cannot be read and stays as it is; check says why")
			continue
		}
		if d.view.IsPathTaken(pathInSummarizedLogs(f.logPath)) {
			return &oxbow.InvalidError{
				Field:  "file",
				Value:  pathInSummarizedLogs(f.logPath),
				Reason: "is there already, and would be overwritten; move it away",
			}
		}
		d.Covers = append(d.Covers, path.Base(f.logPath))
		d.logMoveEdits = append(
			d.logMoveEdits,
			mdtree.Edit{Path: f.logPath, IsRemoval: true},
			mdtree.Edit{Path: pathInSummarizedLogs(f.logPath), Text: text},
		)
		for _, it := range d.view.Items(f.logPath) {
			e := it.Entry
			if e.Kind == oxbow.Handoff {
				continue
			}
			labels := groupingLabels(&e, d.excludedLabels)
			title := groupTitle(labels)
			if d.entryGroupByTitle[title] == nil {
				d.entryGroupByTitle[title] = &digestEntryGroup{labelListTitle: title, commonLabels: labels}
			}
			d.entryGroupByTitle[title].entries = append(d.entryGroupByTitle[title].entries, e)
		}
	}
	return nil
}

// addGroup adds an entry to the digest d that summarizes the entries of the group g. The text of the entry is
// digestTexts[title], where title is the title of the group. If there is no such text, chooseDigestText writes the
// text. addGroup returns an error if the given text is empty or invalid.
func (d *digestBuilder) addGroup(g *digestEntryGroup, from time.Time, digestTexts map[string]string) error {
	e := oxbow.Entry{
		Name:    unusedEntryName(d.view, d.Name, g.labelListTitle, d.digestEntries),
		Kind:    oxbow.Archive,
		Created: from,
	}
	var notes []string
	e.Labels, notes = g.combinedLabels()
	for _, n := range notes {
		d.Notes = append(d.Notes, e.Name+": "+n)
	}
	part := layout.DigestPart{Entry: e.Name, Group: g.labelListTitle, Labels: e.Labels, Entries: len(g.entries)}
	for _, covered := range g.entries {
		part.Before += len(covered.Content)
	}
	if text, ok := digestTexts[g.labelListTitle]; !ok {
		e.Content = chooseDigestText(d.Name, g, d.home.Zone)
	} else {
		if strings.TrimSpace(text) == "" {
			return &oxbow.InvalidError{Field: "text", Value: g.labelListTitle, Reason: "is empty"}
		}
		if err := oxbow.CheckContent(text); err != nil {
			return err
		}
		e.Content = strings.TrimRight(text, "\n")
	}
	part.Text, part.After = e.Content, len(e.Content)
	front := frontMatterWithName(e, oxbow.Archive)
	if len(d.digestEntries) == 0 {
		front[frontMatterKeySummarizedLogs] = d.Covers
	}
	text, ok := d.digestText.textWithAppendedBlock(newFrontMatter(front), e.Content)
	if !ok {
		return &oxbow.InvalidError{Field: "text", Value: g.labelListTitle, Reason: "cannot be held by this layout"}
	}
	d.digestText = parseLog(text, nil)
	d.Parts = append(d.Parts, part)
	d.digestEntries = append(d.digestEntries, e)
	return nil
}

// checkTextParsesToEntries returns an error if the entries that are parsed from the text differ from wantedEntries.
func (h *home) checkTextParsesToEntries(logPath, text string, wantedEntries []oxbow.Entry) error {
	items, err := logLayout{h.Zone}.Parse(logPath, text)
	if err != nil {
		return fmt.Errorf("%s would not be read back: %w", logPath, err)
	}
	same := len(items) == len(wantedEntries)
	for i := 0; same && i < len(wantedEntries); i++ {
		got := items[i].Entry
		got.Labels = slices.DeleteFunc(slices.Clone(got.Labels), func(l oxbow.Label) bool { return l == digestLabel })
		same = got.Name == wantedEntries[i].Name && got.Content == wantedEntries[i].Content &&
			slices.Equal(got.Labels, wantedEntries[i].Labels)
	}
	if !same {
		return &oxbow.InvalidError{Field: "digest", Value: logPath, Reason: "would not be read back as it is"}
	}
	return nil
}

func quoteWords(words []string) string {
	qs := make([]string, len(words))
	for i, w := range words {
		qs[i] = fmt.Sprintf("%q", w)
	}
	return strings.Join(qs, ", ")
}

// unusedEntryName returns a name for a new entry. The name is not used by an entry in v or in newEntries. It contains
// fileStem and title, or only fileStem if this would be too long. If the name is used, a number is appended, such as "
// (2)".
func unusedEntryName(v mdtree.TreeView, fileStem, title string, newEntries []oxbow.Entry) string {
	name := strings.TrimSpace(fileStem + " " + title)
	if len(name) > oxbow.MaxName-len(" (1000)") {
		name = fileStem
	}
	made := name
	for n := 2; ; n++ {
		_, taken := v.Find(name)
		if !taken && !slices.ContainsFunc(newEntries, func(e oxbow.Entry) bool { return e.Name == name }) {
			return name
		}
		name = fmt.Sprintf("%s (%d)", made, n)
	}
}

// These constants limit the labels of a digest, because front matter must be short.
const (
	maxDigestLabels = 200
	maxDigestBytes  = 32 << 10
)

// combinedLabels returns the labels of the entry for a group. These are the common labels, the tags and files of all
// entries, and the lowest confidence if each entry has a confidence. If there are too many tags or files, it uses the
// most frequent, and notes report the omitted tags and files.
func (g *digestEntryGroup) combinedLabels() (labels []oxbow.Label, notes []string) {
	count := map[oxbow.Label]int{}
	least := 0.0
	value := ""
	sure := 0
	for i := range g.entries {
		e := &g.entries[i]
		for _, l := range e.Labels {
			isJoined := l.Key == oxbow.LabelTag || l.Key == oxbow.LabelFile
			if isJoined && !slices.Contains(g.commonLabels, l) {
				count[l]++
			}
		}
		if is, ok := e.Confidence(); ok {
			sure++
			if sure == 1 || is < least {
				least = is
				value, _ = e.Label(oxbow.LabelConfidence)
			}
		}
	}
	labels = slices.Clone(g.commonLabels)
	if sure == len(g.entries) {
		labels = append(labels, oxbow.Label{Key: oxbow.LabelConfidence, Value: value})
	}
	more := oxbow.SortLabels(slices.Collect(maps.Keys(count)))
	slices.SortStableFunc(more, func(a, b oxbow.Label) int { return count[b] - count[a] })
	size, dropped := 0, 0
	for _, l := range more {
		size += len(l.Value) + 4
		if len(labels) >= maxDigestLabels || size > maxDigestBytes {
			dropped++
			continue
		}
		labels = append(labels, l)
	}
	if dropped > 0 {
		notes = append(
			notes,
			fmt.Sprintf("%d of its rarest tags and files are left to the entries that it tells again", dropped),
		)
	}
	return oxbow.SortLabels(labels), notes
}

// Decompress implements [layout.Compressor]. It moves each digest to memory/undone, which is never read. Each digest
// is undone atomically.
func (h *home) Decompress(ctx context.Context, dryRun bool, names ...string) ([]layout.Digest, error) {
	if err := h.checkHomeIsUnrestricted(); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, &oxbow.InvalidError{Field: "digest", Reason: "is not named; say which, such as week-2026-W16"}
	}
	var done []layout.Digest
	for _, name := range names {
		var d layout.Digest
		plan := func(v mdtree.TreeView, _ time.Time) (edits []mdtree.Edit, err error) {
			d, edits, err = h.planDigestUndo(v, name)
			return edits, err
		}
		var err error
		if dryRun {
			err = h.Tree.ViewTree(ctx, func(v mdtree.TreeView) error { _, err := plan(v, time.Time{}); return err })
		} else {
			err = h.Tree.Edit(ctx, plan)
		}
		if err != nil {
			return done, fmt.Errorf("taking back %q: %w", name, err)
		}
		done = append(done, d)
	}
	return done, nil
}

// planDigestUndo returns a description of the digest with this name and the edits that undo the digest. The edits move
// the logs that the digest summarizes back to their place, and move the digest to another path, where it is kept. If
// this is impossible, the error matches oxbow.ErrInvalid.
func (h *home) planDigestUndo(v mdtree.TreeView, name string) (layout.Digest, []mdtree.Edit, error) {
	name = strings.TrimSuffix(path.Base(name), ".md")
	p := logDir + "/" + name + ".md"
	d := layout.Digest{Name: name, File: p}
	none := func(why string) (layout.Digest, []mdtree.Edit, error) {
		return d, nil, &oxbow.InvalidError{Field: "digest", Value: name, Reason: why}
	}
	f, ok := parseLogPath(p, h.Zone)
	isDigest := f.spanName == "week" || f.spanName == "month"
	if !ok || !isDigest {
		return none("is not the name of one, such as week-2026-W16 or month-2026-04")
	}
	text, ok := v.FileText(p)
	if !ok {
		if _, covered := v.FileText(pathInSummarizedLogs(p)); covered {
			return none("is itself told again by " + h.digestNameForLog(v, path.Base(p)) + "; undo that first")
		}
		return none("is not there, or cannot be read")
	}
	_, ps, err := logLayout{h.Zone}.splitEntryBlocks(p, text)
	if err != nil {
		return d, nil, err
	}
	excluded, _ := h.profileExclusions()
	for i, q := range ps {
		d.Covers = append(d.Covers, q.frontMatter.summarizedFiles...)
		it := v.Items(p)[i].Entry
		d.Parts = append(
			d.Parts,
			layout.DigestPart{Entry: it.Name, Group: groupTitle(groupingLabels(&it, excluded)), Labels: it.Labels,
				After: len(it.Content), Text: it.Content},
		)
	}
	if len(d.Covers) == 0 {
		return none("does not say what it covers; it was not made by compression")
	}
	edits, why := h.planLogRestore(v, &d)
	if why != "" {
		return none(why)
	}
	kept, err := undoneDigestPath(v, name)
	if err != nil {
		return d, nil, err
	}
	d.Notes = append(d.Notes, "the digest is kept in "+kept)
	return d, append(edits, mdtree.Edit{Path: p, IsRemoval: true}, mdtree.Edit{Path: kept, Text: text}), nil
}

// planLogRestore returns the edits that restore the logs which the digest d replaced. Each log is moved back to its
// former directory. A log that no longer exists is skipped with a note in d.Notes. If the logs cannot be moved back,
// edits is nil, and reason says why.
func (h *home) planLogRestore(v mdtree.TreeView, d *layout.Digest) (edits []mdtree.Edit, reason string) {
	for _, c := range d.Covers {
		// Reject a name that is not the file name of a log in logDir. A person may have edited the list of replaced
		// logs in the digest, so that a name leads to another directory.
		if _, ok := parseLogPath(logDir+"/"+c, h.Zone); !ok || path.Base(c) != c {
			return nil, fmt.Sprintf("names %q, which is not the file of a log", c)
		}
		back := logDir + "/" + c
		text, ok := v.FileText(pathInSummarizedLogs(c))
		switch {
		case !ok && v.IsPathTaken(pathInSummarizedLogs(c)):
			return nil, pathInSummarizedLogs(c) + " cannot be read; check says why"
		case !ok:
			d.Notes = append(d.Notes, pathInSummarizedLogs(c)+" is not there any more")
			continue
		case v.IsPathTaken(back):
			return nil, back + " is there again, and would be overwritten; move its entries, then the file, away"
		}
		edits = append(
			edits,
			mdtree.Edit{Path: pathInSummarizedLogs(c), IsRemoval: true},
			mdtree.Edit{Path: back, Text: text},
		)
	}
	return edits, ""
}

// digestNameForLog returns the name, for use in a message, of the digest that summarizes the log with this file name.
// If no digest is found, the result is "a digest".
func (h *home) digestNameForLog(v mdtree.TreeView, logFileName string) string {
	for p := range v.Files() {
		if f, ok := parseLogPath(p, h.Zone); !ok || f.isInSummarizedLogsDir {
			continue
		}
		text, ok := v.FileText(p)
		if !ok {
			continue
		}
		_, ps, err := logLayout{h.Zone}.splitEntryBlocks(p, text)
		if err != nil {
			continue
		}
		for _, q := range ps {
			if slices.Contains(q.frontMatter.summarizedFiles, logFileName) {
				return strings.TrimSuffix(path.Base(p), ".md")
			}
		}
	}
	return "a digest"
}

// undoneDigestPath returns an unused path in memory/undone for a digest with the given name. A digest is a file that
// summarizes other files. It is moved to this path when the compression is undone. If maxFilesPerDay paths for the name
// are taken, undoneDigestPath returns an error.
func undoneDigestPath(v mdtree.TreeView, name string) (string, error) {
	for n := 1; n <= maxFilesPerDay; n++ {
		p := undoneDigestsDir + "/" + name + ".md"
		if n > 1 {
			p = fmt.Sprintf("%s/%s-%d.md", undoneDigestsDir, name, n)
		}
		if !v.IsPathTaken(p) {
			return p, nil
		}
	}
	return "", errors.New(undoneDigestsDir + " holds too many digests of that name; remove some")
}
