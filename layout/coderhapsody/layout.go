// This file parses logs for the store in package mdtree, and plans changes as edits of logs.

package coderhapsody

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/profile"
)

// maxLogSize is the size in bytes up to which entries are added to a log. If the log is larger, further entries of the
// day are added to another file.
const maxLogSize = 8 << 20

// logLayout is the [mdtree.Layout] of logs.
type logLayout struct{ zone *time.Location }

// Dirs implements [mdtree.Layout].
func (logLayout) Dirs() []string {
	return append([]string{logDir, summarizedLogsDir}, sessionSummaryDirs...)
}

// Match implements [mdtree.Layout].
func (l logLayout) Match(p string) bool {
	_, ok := parseLogPath(p, l.zone)
	return ok
}

// IsIgnoredText implements an optional interface of package mdtree. It reports whether a file contains text but is not
// a log: CodeRhapsody stores undated Markdown files beside its logs, such as notes.md and summary-2026.md.
func (logLayout) IsIgnoredText(filePath string) bool {
	return path.Dir(filePath) == logDir && path.Ext(filePath) == ".md" && !strings.HasPrefix(path.Base(filePath), ".")
}

// entryBlock is a block of a log, including its decoded front matter.
type entryBlock struct {
	indexInLog  int
	frontMatter frontMatterValues
	content     string
	entryName   string
}

// splitEntryBlocks returns the blocks of a text that are entries. Invalid front matter is treated as content,
// and the error describes its mistakes.
func (l logLayout) splitEntryBlocks(logPath, text string) (*logText, []entryBlock, error) {
	f, ok := parseLogPath(logPath, l.zone)
	if !ok {
		return nil, nil, fmt.Errorf("%s is not the name of a log", logPath)
	}
	var wrong profile.Diagnostics
	lg := parseLog(text, nil)
	// decoded front matter of each entry, by the offset in text at which the entry's block begins
	matters := map[int]frontMatterValues{}
	bad := map[int]bool{}
	for _, b := range lg.blocks {
		if !b.hasFrontMatter {
			continue
		}
		m, err := readFrontMatter(
			logPath,
			text[b.frontMatterStart:b.frontMatterEnd],
			b.frontMatterFirstLine,
			f.firstDay,
		)
		if err != nil {
			var ms profile.Diagnostics
			if !errors.As(err, &ms) {
				return nil, nil, err
			}
			wrong, bad[b.blockStart] = append(wrong, ms...), true
			continue
		}
		matters[b.blockStart] = m
	}
	if len(bad) > 0 {
		lg = parseLog(text, func(start int) bool { return bad[start] })
	}
	var ps []entryBlock
	for i, b := range lg.blocks {
		if lg.isBlankBlock(i) {
			continue
		}
		ps = append(
			ps,
			entryBlock{indexInLog: i, frontMatter: matters[b.blockStart], content: lg.unescapedBlockContent(i)},
		)
	}
	setEntryNames(f.entryNamePrefix, ps)
	if len(wrong) > 0 {
		return lg, ps, wrong
	}
	return lg, ps, nil
}

// setEntryNames sets entryName in each element of ps, the blocks of a log. It generates distinct names for blocks
// whose front matter lacks a name.
func setEntryNames(fileStem string, ps []entryBlock) {
	seen := map[string]bool{}
	for i := range ps {
		p := &ps[i]
		p.entryName = p.frontMatter.name
		if p.entryName != "" {
			continue
		}
		made := generateName(fileStem, p.indexInLog == 0, &p.frontMatter, p.content)
		p.entryName = made
		for n := 2; seen[p.entryName]; n++ {
			p.entryName = made + " (" + strconv.Itoa(n) + ")"
		}
		seen[p.entryName] = true
	}
}

// Parse implements [mdtree.Layout].
func (l logLayout) Parse(p, text string) ([]mdtree.Item, error) {
	lg, ps, err := l.splitEntryBlocks(p, text)
	if lg == nil {
		return nil, err
	}
	f, _ := parseLogPath(p, l.zone)
	isDigest := slices.ContainsFunc(ps, func(q entryBlock) bool { return len(q.frontMatter.summarizedFiles) > 0 })
	items := make([]mdtree.Item, len(ps))
	for i, q := range ps {
		b := lg.blocks[q.indexInLog]
		e := oxbow.Entry{Name: q.entryName, Kind: f.defaultKind, Content: q.content, Aliases: q.frontMatter.aliases,
			Labels: q.frontMatter.labels, Created: q.frontMatter.time, Updated: q.frontMatter.updated}
		if q.frontMatter.kind != nil {
			e.Kind = *q.frontMatter.kind
		}
		if e.Created.IsZero() {
			e.Created = f.firstDay.UTC()
		}
		if e.Updated.IsZero() {
			e.Updated = e.Created
		}
		if f.isInSummarizedLogsDir {
			e.Labels = append(slices.Clone(e.Labels), summarizedLabel)
		}
		if isDigest {
			e.Labels = append(slices.Clone(e.Labels), digestLabel)
		}
		items[i] = mdtree.Item{Entry: e, StartOffset: b.blockStart, EndOffset: b.nextBlockOffset}
	}
	return items, err
}

// summarizedLabel is the label of all entries in summarized logs. A digest, which is a shorter text, replaces these
// logs, and the logs are moved away. The label is not stored in the log, because summarizing a log must not change its
// text.
var summarizedLabel = oxbow.Label{Key: profile.LabelCovered, Value: "true"}

// digestLabel is the label of all entries in a digest, that is, in a file that summarizes logs. The label is not
// stored in the file.
var digestLabel = oxbow.Label{Key: profile.LabelDigest, Value: "true"}

// Plan implements [mdtree.Layout].
func (l logLayout) Plan(v mdtree.TreeView, op oxbow.Op, now time.Time) ([]mdtree.Edit, error) {
	if add, ok := op.(oxbow.Add); ok {
		return l.addEntry(v, add, now)
	}
	place, _ := v.Find(op.Target())
	text, ok := v.FileText(place.Path)
	if !ok {
		return nil, &oxbow.InvalidError{
			Field:  "file",
			Value:  place.Path,
			Reason: "has front matter that cannot be read, and is not changed before that is mended; check says where",
		}
	}
	lg, ps, err := l.splitEntryBlocks(place.Path, text)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(
		ps,
		func(p entryBlock) bool { return lg.blocks[p.indexInLog].blockStart == place.StartOffset },
	)
	if i < 0 {
		return nil, fmt.Errorf("entry %q is not where it was in %s", place.Entry.Name, place.Path)
	}
	e := place.Entry
	switch op := op.(type) {
	case oxbow.Remove:
		return l.planRemoveBlock(place.Path, lg, ps, i)
	case oxbow.Update:
		if op.Content != e.Content {
			ps[i].frontMatter.updated = now.Truncate(time.Second)
		}
	}
	text, err = l.rewriteEntryBlock(place.Path, lg, ps, i, op.ApplyTo(e))
	if err != nil {
		return nil, err
	}
	return []mdtree.Edit{{Path: place.Path, Text: text}}, nil
}

// frontMatterWithName returns a new entry's front matter, including the entry's name, by key. defaultKind is the
// default kind of the entries in the file.
func frontMatterWithName(e oxbow.Entry, defaultKind oxbow.Kind) map[string][]string {
	vs := frontMatter(e, defaultKind)
	vs[frontMatterKeyName] = []string{e.Name}
	return vs
}

// frontMatter returns a new entry's front matter, without the entry's name, by key. fileKind is the default kind of
// the entries in the file.
func frontMatter(e oxbow.Entry, fileKind oxbow.Kind) map[string][]string {
	vs := labelValues(e.Labels)
	vs[frontMatterKeyTime] = []string{formatTime(e.Created)}
	if len(e.Aliases) > 0 {
		vs[frontMatterKeyAliases] = e.Aliases
	}
	if e.Kind != fileKind {
		vs[frontMatterKeyKind] = []string{e.Kind.String()}
	}
	return vs
}

// addEntry appends an entry to the log of the day on which it was created. If that file is too long, cannot be read, or
// would be parsed differently after the addition, addEntry uses another file of the day. It uses the present day if the
// year of the creation is not in the range 1 to 9999. An entry that was a whole log in the old format becomes a file of
// its own (see planWholeFile).
func (l logLayout) addEntry(v mdtree.TreeView, op oxbow.Add, now time.Time) ([]mdtree.Edit, error) {
	e := op.ApplyTo(oxbow.Entry{})
	if e.Created.IsZero() {
		e.Created = now.Truncate(time.Second)
	}
	day := e.Created.In(l.zone)
	if day.Year() < 1 || day.Year() > 9999 {
		day = now.In(l.zone)
	}
	if edit, ok := l.planWholeFile(v, e); ok {
		return []mdtree.Edit{edit}, nil
	}
	for n := 1; n <= maxFilesPerDay; n++ {
		p := logDir + "/" + day.Format("2006-01-02") + ".md"
		if n > 1 {
			p = fmt.Sprintf("%s/%s-%d.md", logDir, day.Format("2006-01-02"), n)
		}
		text, ok := v.FileText(p)
		isTaken := !ok && v.IsPathTaken(p)
		if isTaken || len(text) > maxLogSize {
			continue
		}
		if next, ok := l.appendEntry(p, text, e); ok {
			return []mdtree.Edit{{Path: p, Text: next}}, nil
		}
	}
	return nil, &oxbow.InvalidError{
		Field:  "entry",
		Value:  op.Name,
		Reason: fmt.Sprintf("has no file to go to: %d of that day are full or cannot be read", maxFilesPerDay),
	}
}

// appendEntry returns the text of a log with an entry appended. It returns false if existing entries would be parsed
// differently. The front matter contains the name only if the name cannot be made from the content.
func (l logLayout) appendEntry(logPath, text string, e oxbow.Entry) (string, bool) {
	f, _ := parseLogPath(logPath, l.zone)
	lg := parseLog(text, nil)
	if mayBeGeneratedName(e.Name, f.entryNamePrefix) {
		next, ok := lg.textWithAppendedBlock(newFrontMatter(frontMatter(e, f.defaultKind)), e.Content)
		if !ok {
			return "", false
		}
		_, ps, err := l.splitEntryBlocks(logPath, next)
		hasParts := err == nil && len(ps) > 0
		if hasParts && ps[len(ps)-1].entryName == e.Name {
			return next, true
		}
	}
	return lg.textWithAppendedBlock(newFrontMatter(frontMatterWithName(e, f.defaultKind)), e.Content)
}

// planWholeFile returns the edit that stores the entry e as a whole log file. Old logs contain only the text of one
// entry, without a block for the entry. planWholeFile restores this form for an entry that came from such a log and was
// moved to another layout and back. The file has no front matter, unless the entry needs it, for example for labels.
//
// planWholeFile returns true only if all of these conditions are met:
//   - The entry has the name of a log file that does not exist yet.
//   - The time of the entry is the start of the day in its name.
//   - The kind of the entry is the default kind of such a log.
//   - The entry can be read from the new file unchanged.
func (l logLayout) planWholeFile(v mdtree.TreeView, e oxbow.Entry) (mdtree.Edit, bool) {
	p := logDir + "/" + e.Name + ".md"
	if !dayNamePattern().MatchString(e.Name) {
		return mdtree.Edit{}, false
	}
	f, ok := parseLogPath(p, l.zone)
	isOfEntry := ok && f.firstDay.Equal(e.Created) && f.defaultKind == e.Kind
	if !isOfEntry || v.IsPathTaken(p) {
		return mdtree.Edit{}, false
	}
	front := frontMatter(e, e.Kind)
	delete(front, frontMatterKeyTime)
	lg := parseLog("", nil)
	text := lg.escapeEntryContent(e.Content, opensBlockAtFileStart) + lg.lineEnding
	if len(front) > 0 {
		text, _ = lg.textWithAppendedBlock(newFrontMatter(front), e.Content)
	}
	_, ps, err := l.splitEntryBlocks(p, text)
	ok = err == nil && len(ps) == 1 && ps[0].entryName == e.Name && ps[0].content == e.Content
	return mdtree.Edit{Path: p, Text: text}, ok
}

// maxFilesPerDay is the maximum number of files per day.
const maxFilesPerDay = 1000

// mayBeGeneratedName reports whether the name may have been generated for an entry without a name, in a file whose
// generated names begin with entryNamePrefix.
func mayBeGeneratedName(name, entryNamePrefix string) bool {
	return len(name) > len(entryNamePrefix) && name[:len(entryNamePrefix)] == entryNamePrefix &&
		name[len(entryNamePrefix)] == ' '
}

// rewriteEntryBlock returns the text of a log in which the entry e replaces the block blocks[i]. The argument logPath
// is the path of the log, parsedLog is its text, and blocks are the blocks with its entries.
func (l logLayout) rewriteEntryBlock(
	logPath string,
	parsedLog *logText,
	blocks []entryBlock,
	i int,
	e oxbow.Entry,
) (string, error) {
	f, _ := parseLogPath(logPath, l.zone)
	q := blocks[i]
	want := map[string][]string{}
	labels := oxbow.SortLabels(e.Labels)
	if f.isInSummarizedLogsDir {
		// Leave out the label that marks an entry as covered by a digest, because the file's directory already implies
		// this.
		labels = slices.DeleteFunc(labels, func(l oxbow.Label) bool { return l == summarizedLabel })
	}
	if slices.ContainsFunc(blocks, func(q entryBlock) bool { return len(q.frontMatter.summarizedFiles) > 0 }) {
		labels = slices.DeleteFunc(labels, func(l oxbow.Label) bool { return l == digestLabel })
	}
	if !slices.Equal(labels, q.frontMatter.labels) {
		values := labelValues(labels)
		for _, k := range frontMatterLabelKeys {
			if !slices.Equal(values[k], q.frontMatter.valuesByLabelKey[k]) {
				// if the entry has no labels for key k, values[k] is nil, which removes the key from the front matter
				want[k] = values[k]
			}
		}
	}
	if !slices.Equal(e.Aliases, q.frontMatter.aliases) {
		want[frontMatterKeyAliases] = e.Aliases
	}
	if e.Content != q.content {
		want[frontMatterKeyUpdated] = []string{formatTime(q.frontMatter.updated)}
	}
	text, err := editBlock(parsedLog, q.indexInLog, want, e.Content, e.Kind)
	if err != nil {
		return "", err
	}
	return l.writeNames(logPath, text, entryBlockNames(blocks))
}

// editBlock returns the text with changed front matter and content in a block. kind is the kind of the block's entry.
func editBlock(
	lg *logText,
	blockIndex int,
	newValues map[string][]string,
	content string,
	kind oxbow.Kind,
) (string, error) {
	b := lg.blocks[blockIndex]
	head, tail := lg.text[:b.blockStart], lg.text[b.blockStart:]
	if !b.hasFrontMatter {
		if len(newValues) == 0 {
			return lg.textWithContent(blockIndex, content), nil
		}
		front := newFrontMatter(newValues)
		if lg.lineEnding != "\n" {
			front = strings.ReplaceAll(front, "\n", lg.lineEnding)
		}
		text := head + blockMarkerLine(lg.lineEnding) + front + blockMarkerLine(lg.lineEnding) + lg.lineEnding + tail
		return parseLog(text, nil).textWithContent(blockIndex, content), nil
	}
	front, err := editFrontMatter(lg.text[b.frontMatterStart:b.frontMatterEnd], lg.lineEnding, newValues)
	if err != nil {
		return "", err
	}
	switch {
	case front == "" && blockIndex == 0 && strings.TrimSpace(content) != "":
		// Write the entry without front matter. This is the form in which earlier versions of CodeRhapsody, which had
		// no labels, wrote entries.
		return parseLog(head+lg.text[b.contentStart:], nil).textWithContent(blockIndex, content), nil
	case !blockStartTestForIndex(blockIndex)(front):
		// Begin the front matter with the known key "kind". Otherwise a reader would take the front matter for text,
		// because it does not begin with a known key.
		front = frontMatterKeyKind + ": " + kind.String() + lg.lineEnding + front
	}
	text := lg.text[:b.frontMatterStart] + front + lg.text[b.frontMatterEnd:]
	return parseLog(text, nil).textWithContent(blockIndex, content), nil
}

// writeNames makes sure that the entries in the text of a log file have the names in the list wantedNames, and returns
// the new text. The argument logPath is the path of the log. If an entry does not have the wanted name, writeNames
// writes the name into the front matter of the entry. This is necessary because an entry without a name in its front
// matter gets a generated name, which can change when the log changes. If the number of entries differs from the number
// of names, writeNames returns the text unchanged. It returns an error if the layout cannot store the entries.
func (l logLayout) writeNames(logPath, text string, wantedNames []string) (string, error) {
	f, _ := parseLogPath(logPath, l.zone)
	for range wantedNames {
		lg, now, err := l.splitEntryBlocks(logPath, text)
		if err != nil {
			return "", &oxbow.InvalidError{Field: "entry", Reason: "cannot be held by this layout: " + err.Error()}
		}
		if len(now) != len(wantedNames) {
			// return the text unchanged; the store will find that the names are wrong, and refuse the change
			return text, nil
		}
		j := 0
		for j < len(now) && now[j].entryName == wantedNames[j] {
			j++
		}
		if j == len(now) {
			return text, nil
		}
		text, err = editBlock(
			lg,
			now[j].indexInLog,
			map[string][]string{frontMatterKeyName: {wantedNames[j]}},
			now[j].content,
			f.defaultKind,
		)
		if err != nil {
			return "", err
		}
	}
	return text, nil
}

// entryBlockNames returns the name of the entry in each block.
func entryBlockNames(ps []entryBlock) []string {
	names := make([]string, len(ps))
	for i, p := range ps {
		names[i] = p.entryName
	}
	return names
}

// planRemoveBlock returns the edits that remove the block blocks[i] from the log at path logPath. If the file contains
// no other block, the file is removed. A block of a digest may list the files that the digest summarizes. In this case,
// the list is moved to the first remaining block, so that the files stay summarized. If there is no other block,
// planRemoveBlock returns an error.
func (l logLayout) planRemoveBlock(
	logPath string,
	parsedLog *logText,
	blocks []entryBlock,
	i int,
) ([]mdtree.Edit, error) {
	covers := blocks[i].frontMatter.summarizedFiles
	rest, left := parsedLog.textWithoutBlock(blocks[i].indexInLog)
	if !left || len(blocks) == 1 {
		if len(covers) > 0 {
			return nil, &oxbow.InvalidError{Field: "entry", Value: blocks[i].entryName,
				Reason: "tells other entries again, which nothing would then; take it back as a whole: oxbow " +
					"compress undo " + path.Base(
					strings.TrimSuffix(
						logPath,
						".md",
					),
				)}
		}
		return []mdtree.Edit{{Path: logPath, IsRemoval: true}}, nil
	}
	names := entryBlockNames(slices.Delete(slices.Clone(blocks), i, i+1))
	if len(covers) > 0 {
		now, others, err := l.splitEntryBlocks(logPath, rest)
		if err != nil || len(others) == 0 {
			return nil, fmt.Errorf(
				"removing entry %q: the rest of %s cannot be read: %w",
				blocks[i].entryName,
				logPath,
				err,
			)
		}
		rest, err = editBlock(
			now,
			others[0].indexInLog,
			map[string][]string{frontMatterKeySummarizedLogs: covers},
			others[0].content,
			oxbow.Archive,
		)
		if err != nil {
			return nil, err
		}
	}
	text, err := l.writeNames(logPath, rest, names)
	if err != nil {
		return nil, err
	}
	return []mdtree.Edit{{Path: logPath, Text: text}}, nil
}
