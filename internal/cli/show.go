// This file prints entries, changes and annotations for people. These have special layouts instead of the layout for
// reports: the facts about an entry are above its text, a log has one row for each change, and an annotation looks
// like a comment in code.

package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	texts "github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/cli/tui"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/annotations"
)

func formatSeq(seq uint64) string { return strconv.FormatUint(seq, 10) }

// parseTime parses a time in a verb's answer. It returns the zero time if s is not a time.
func parseTime(s string) time.Time {
	t, _ := time.Parse(time.RFC3339, s)
	return t
}

// formatLabels formats labels in the order in which people look for them: the project, the tags, and then all other
// labels, sorted by key. If a key has more than maxValues values, only the first maxValues values and the number of
// further values are written.
func formatLabels(labels map[string][]string, maxValues int) string {
	var keys, words []string
	for key := range labels {
		if key != oxbow.LabelProject && key != oxbow.LabelTag {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range append([]string{oxbow.LabelProject, oxbow.LabelTag}, keys...) {
		for i, v := range labels[key] {
			if i == maxValues {
				words = append(words, fmt.Sprintf("(%d more)", len(labels[key])-maxValues))
				break
			}
			words = append(words, oxbow.Label{Key: key, Value: v}.String())
		}
	}
	return replaceHarmfulChars(strings.Join(words, " "))
}

// labelsToPrint returns a copy of the labels without the labels that are shown elsewhere. It removes the labels about
// an import, which only the command "oxbow get" shows, and the states of cited files, which only --json shows. If the
// labels belong to a turn of a session, labelsToPrint also removes the client, the session and the turn, which the
// turn's name contains, and the labels that hooks and the archive use internally, such as commit and tool.
func labelsToPrint(labels map[string][]string) map[string][]string {
	labels = maps.Clone(labels)
	for _, key := range []string{oxbow.LabelFileBlob, "import", "import-id", "import-sum"} {
		delete(labels, key)
	}
	if labels["session"] == nil || labels["turn"] == nil {
		return labels
	}
	for _, key := range []string{"client", "session", "turn", "commit", "call", "tool", "used",
		session.LabelInjected, session.LabelShownEntry} {
		delete(labels, key)
	}
	return labels
}

// maxLabelValues is the maximum number of values that are shown for one key.
const maxLabelValues = 4

// entrySummary returns a line with an entry's kind, date and labels.
func (env *environment) entrySummary(e verb.Entry) string {
	parts := []string{e.Kind}
	if at := parseTime(e.Created); !at.IsZero() {
		format := time.DateOnly
		if e.Labels["turn"] != nil {
			format = "2006-01-02 15:04"
		}
		parts = append(parts, at.In(env.Now().Location()).Format(format))
	}
	if l := formatLabels(labelsToPrint(e.Labels), maxLabelValues); l != "" {
		parts = append(parts, l)
	}
	if r := e.Source.ReviewedCommit(); r != "" {
		parts = append(parts, "team, reviewed in "+replaceHarmfulChars(r))
	}
	return strings.Join(parts, " · ")
}

// citationText describes the state of a cited file, such as "pool.go: MOVED to conns.go (…)".
func citationText(c verb.FileRef) string {
	s := c.File + ": " + c.State
	if c.NewPath != "" {
		s += " to " + c.NewPath
	}
	return toPrintableLine(s + " (" + c.StateText + ")")
}

// describeAuthor describes who wrote a version, such as "person, cli" or "agent claude, mcp".
func describeAuthor(s verb.Source) string {
	w := s.Actor
	if s.Agent != "" {
		w += " " + s.Agent
	}
	if s.Door != "" {
		if w != "" {
			w += ", "
		}
		w += s.Door
	}
	if token := s.TokenName(); token != "" {
		w += " by token " + token
	}
	if r := s.ReviewedCommit(); r != "" {
		w += ", reviewed in " + r
	}
	return replaceHarmfulChars(w)
}

// showEntryHeader prints the facts about an entry, without the content.
func (env *environment) showEntryHeader(e verb.Entry) {
	env.printf("%s\n", env.bold(printableName(e.Name)))
	for _, f := range env.listEntryFacts(e) {
		env.printField(8, f.Name, f.Value)
	}
	env.printf("\n")
}

// listEntryFacts returns the facts about an entry in the order in which they are printed.
func (env *environment) listEntryFacts(e verb.Entry) (facts []tui.NamedProperty) {
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, tui.NamedProperty{Name: name, Value: value})
		}
	}
	add("kind", e.Kind)
	labels := maps.Clone(e.Labels)
	delete(labels, oxbow.LabelFileBlob) // Hide this label, which only programs need. The flag --json shows it.
	add("labels", formatLabels(labels, oxbow.MaxLabels))
	add("aliases", replaceHarmfulChars(strings.Join(e.Aliases, ", ")))
	for _, c := range e.Citations {
		add("cites", citationText(c))
	}
	now := env.Now()
	if at := parseTime(e.Created); !at.IsZero() {
		add("created", env.formatDate(at)+" ("+agePhrase(at, now)+")")
	}
	if e.Updated != e.Created {
		if at := parseTime(e.Updated); !at.IsZero() {
			add("updated", env.formatDate(at)+" ("+agePhrase(at, now)+")")
		}
	}
	add("version", fmt.Sprintf("%d, by %s", e.Version, describeAuthor(e.Source)))
	return facts
}

// showChanges prints changes, and the entries that each change touched. All changes of one call, such as an import,
// share a line.
func (env *environment) showChanges(changes []verb.Change) {
	for _, o := range verb.GroupChangesByCall(changes) {
		env.showLoggedOperation(o)
	}
}

func (env *environment) showLoggedOperation(c verb.Operation) {
	what := make([]string, 0, len(c.Entries))
	verbs := map[string]int{}
	var order []string
	for _, t := range c.Entries {
		if verbs[t.Verb] == 0 {
			order = append(order, t.Verb)
		}
		verbs[t.Verb]++
	}
	for _, v := range order {
		switch n := verbs[v]; n {
		case 1, 2:
			for _, t := range c.Entries {
				if t.Verb == v {
					what = append(what, v+" "+printableName(t.Name))
				}
			}
		default:
			what = append(what, fmt.Sprintf("%s %d entries", v, n))
		}
	}
	text := strings.Join(what, ", ")
	if len(c.RevertedSeqs) > 0 {
		what := "undo of " + texts.FormatRanges(slices.Sorted(slices.Values(c.RevertedSeqs)))
		text = what + ": " + text
	}
	if c.Note != "" && !strings.HasPrefix(c.Note, "undo of ") {
		text += " (" + c.Note + ")"
	}
	if id := c.Source.ClientSession(); id != "" {
		text += " [session " + id + "]"
	}
	number := formatSeq(c.Seq)
	if c.HasManyChanges() {
		number = formatSeq(c.FirstSeq) + " to " + number
	}
	head := fmt.Sprintf(
		"%5s  %s  %s  ",
		number,
		env.formatDate(parseTime(c.Time)),
		padColumns(describeAuthor(c.Source), 11),
	)
	room := env.textWidth() - countColumns(head)
	if room < env.textWidth()/2 {
		room = env.textWidth() - 4
	}
	env.printWrappedText(env.dim(head), env.cutColumns(toPrintableLine(text), room))
}

// showAlternativesAndPrompt prints the alternatives that an annotation rejects, and the prompt that led to the edit.
func (env *environment) showAlternativesAndPrompt(n annotations.Annotation) {
	for _, r := range n.RejectedAlternatives {
		env.printWrappedText("  ", "rejected: "+toPrintableLine(r))
	}
	if n.Prompt != "" {
		env.printWrappedText("  ", "asked: "+toPrintableLine(n.Prompt))
	}
}

// showAnnotation prints an annotation of code: first the place in the file, and then the reason. It also prints the
// alternatives, the prompt, and a last line that tells who made the annotation and when.
func (env *environment) showAnnotation(n annotations.Annotation) {
	at := n.File
	if n.StartLine > 0 {
		at += ":" + formatLineRange(n)
	}
	env.printf("%s  %s\n", env.bold(toPrintableLine(at)), placementText(n))
	for _, l := range wrapText(strings.TrimSpace(replaceHarmfulChars(n.Reason)), env.textWidth()-2) {
		env.printf("  %s\n", l)
	}
	env.showAlternativesAndPrompt(n)
	var by []string
	for _, s := range []string{n.Agent, n.Model} {
		if s != "" {
			by = append(by, s)
		}
	}
	if len(by) == 0 && n.ActorKind != "" {
		by = append(by, n.ActorKind)
	}
	if n.ReviewState != "" {
		by = append(by, n.ReviewState)
	}
	if made, err := time.Parse(time.RFC3339, n.Time); err == nil {
		by = append(by, env.formatDate(made))
	}
	if n.Commit != "" {
		by = append(by, "commit "+n.Commit[:12])
	}
	switch {
	case n.FormerFile != "" && n.FormerLines == "":
		by = append(by, "was "+n.FormerFile)
	case n.FormerFile != "":
		by = append(by, "was "+n.FormerFile+":"+n.FormerLines)
	case n.FormerLines != "":
		by = append(by, "was "+annotations.FormatLineSpan(n.FormerLines))
	}
	env.printf("  %s\n", env.dim(toPrintableLine(strings.Join(by, ", "))))
}

// placementText describes how the lines of an annotation were found, with which confidence, and whether the annotation
// is archived.
func placementText(n annotations.Annotation) string {
	placed := n.PlacingStatus
	if n.PlacingStatus != string(annotate.NotPlaced) {
		placed += fmt.Sprintf(" %.2f", n.Confidence)
	}
	if n.Archived {
		placed += ", archived"
	}
	return placed
}

// explainEmptyResult prints on standard error why a result is empty. It prints nothing if --quiet is set.
func (env *environment) explainEmptyResult(reasons []verb.Note, similarNames []string) {
	if env.isQuiet {
		return
	}
	if len(reasons) == 0 {
		reasons = []verb.Note{verb.PlainNote("nothing was found")}
	}
	for _, w := range reasons {
		env.printWarning("%s", replaceHarmfulChars(formatNote(w)))
	}
	if len(similarNames) > 0 {
		fmt.Fprintf(env.Stderr, "  near to it: %s\n", replaceHarmfulChars(strings.Join(similarNames, ", ")))
	}
}

// showNotes prints the notes that a verb returned.
func (env *environment) showNotes(notes []verb.Note) {
	for _, n := range notes {
		env.printNote("%s", replaceHarmfulChars(formatNote(n)))
	}
}

// listScoreFacts returns the parts of a hit's score with the values on which each part depends, followed by the total.
func listScoreFacts(h verb.Entry) (facts []tui.NamedProperty) {
	x := h.Explanation
	add := func(score float64, of string) {
		facts = append(facts, tui.NamedProperty{Name: fmt.Sprintf("%7.3f", score), Value: of})
	}
	for _, t := range x.Terms {
		if t.Score == 0 {
			continue
		}
		var fields []string
		for _, f := range t.Fields {
			fields = append(fields, fmt.Sprintf("%s %.3f", replaceHarmfulChars(f.Field), f.Score))
		}
		where := strings.Join(fields, ", ")
		if len(fields) < 2 {
			where = fmt.Sprintf("%g here", t.TF)
		}
		if len(fields) == 1 {
			where += " from " + replaceHarmfulChars(t.Fields[0].Field)
		}
		add(
			t.Score,
			fmt.Sprintf("%s: %s; in %d of %d, idf %.2f", replaceHarmfulChars(t.Term), where, t.DF, x.Entries, t.IDF),
		)
	}
	add(h.Score, fmt.Sprintf("%s, %g terms long (%.1f on average)", x.Formula, x.Length, x.AvgLen))
	return facts
}
