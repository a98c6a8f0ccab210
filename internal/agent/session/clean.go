// This file cuts long texts and lists in events, and normalizes the events before they are stored.

package session

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// These limits apply to stored events. A text, a list or a path beyond its limit is cut.
const (
	maxTextBytes            = 256 << 10 // maximum size of a text in bytes
	maxTurnBytes            = 1 << 20   // maximum size of all texts in a turn of a conversation, in bytes
	maxClientReportsPerTurn = 2000      // maximum number of reports in a turn (a report is an event from a client)
	maxIDOrNameBytes        = 200       // maximum size of an identifier, a tool name or similar, in bytes
	maxPathBytes            = 1 << 10   // maximum size of a path or a URL in bytes
	maxCallPaths            = 200       // maximum number of paths in a call
	maxOutputLineBytes      = 400       // maximum size of an output line in bytes
	maxShownEntries         = 40        // maximum number of entries in an injection
	maxInjectionRareTerms   = 100       // maximum number of rare terms in an injection
	// A turn has a list of its calls that returned text by others, such as a web page. This is the maximum length of
	// the list.
	maxTaintingCallsPerTurn = 8
	// maximum size in bytes for an element in the list of calls that returned text by others
	maxForeignTextCallBytes = 250
)

// normalize returns the event in its stored form: texts are valid UTF-8, and texts, names, paths and lists are cut to
// their limits. An event that already has this form stays the same.
func (e Event) normalize() Event {
	for _, s := range []*string{&e.Client, &e.Session, &e.TurnID, &e.ID, &e.Branch, &e.SubAgent, &e.Model} {
		*s = toShortLine(*s, maxIDOrNameBytes)
	}
	e.Dir, e.TranscriptPath = toShortLine(e.Dir, maxPathBytes), toShortLine(e.TranscriptPath, maxPathBytes)
	e.Text = cutTextAndNoteSize(strings.TrimSpace(sanitizeUTF8Text(e.Text)), maxTextBytes)
	e.Time = e.Time.UTC().Round(0)
	if y := e.Time.Year(); y < 1 || y > 9999 { // JSON cannot encode a negative year or a year after 9999.
		e.Time = time.Time{}
	}
	if e.Call != nil {
		e.Call = e.Call.normalize()
	}
	e.RepeatedCallResults = e.RepeatedCallResults.normalize()
	switch {
	case e.Kind != KindInjection:
		e.Injection = nil
	case e.Injection != nil:
		e.Call, e.Injection = nil, e.Injection.normalize()
	}
	return e
}

// normalize returns a copy of the call in its stored form, in which texts, paths and lists are cut to their limits.
func (c *ToolCall) normalize() *ToolCall {
	d := *c
	d.Tool = toShortLine(c.Tool, maxIDOrNameBytes)
	d.Command = strings.TrimSpace(cutText(strings.TrimSpace(sanitizeUTF8Text(c.Command)), MaxCommandBytes))
	d.WebQuery = toShortLine(c.WebQuery, maxPathBytes)
	d.WrittenFiles, d.ReadFiles = normalizePaths(c.WrittenFiles), normalizePaths(c.ReadFiles)
	d.OldTextHash, d.NewTextHash = toShortLine(c.OldTextHash, TextHashBytes), toShortLine(c.NewTextHash, TextHashBytes)
	d.FileHashBefore, d.FileHashAfter = toShortLine(
		c.FileHashBefore,
		TextHashBytes,
	), toShortLine(
		c.FileHashAfter,
		TextHashBytes,
	)
	d.Output, d.ResultTextSource = outputTail(c.Output), c.ResultTextSource.normalize()
	return &d
}

// normalize returns the injection in its stored form.
func (in *Injection) normalize() *Injection {
	d := *in
	d.HookEvent = toShortLine(in.HookEvent, maxIDOrNameBytes)
	d.AnswerKind = toShortLine(in.AnswerKind, maxIDOrNameBytes)
	d.TokenCount = max(0, in.TokenCount)
	for _, f := range []*float64{&d.BestMatchStrength, &d.MinMatchStrength} {
		if math.IsNaN(*f) || math.IsInf(*f, 0) { // JSON cannot encode NaN or infinity.
			*f = 0
		}
	}
	d.ShownEntries, d.RareTerms = nil, nil
	for _, s := range in.ShownEntries[:min(len(in.ShownEntries), maxShownEntries)] {
		d.ShownEntries = append(
			d.ShownEntries,
			ShownEntry{toShortLine(s.SourceKind, maxIDOrNameBytes), toShortLine(s.Name, oxbow.MaxName), s.Version},
		)
	}
	for _, w := range in.RareTerms[:min(len(in.RareTerms), maxInjectionRareTerms)] {
		w = toShortLine(w, maxIDOrNameBytes)
		if w != "" {
			d.RareTerms = append(d.RareTerms, w)
		}
	}
	return &d
}

// normalizePaths returns the paths sorted and without repetitions, at most maxCallPaths. Each path is cut to
// maxPathBytes bytes. Empty paths are left out.
func normalizePaths(ps []string) []string {
	var all []string
	for _, p := range ps {
		p = toShortLine(p, maxPathBytes)
		if p != "" {
			all = append(all, p)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), maxCallPaths)]
}

// sanitizeUTF8Text returns the text as valid UTF-8 with Unix line ends and without NUL bytes.
func sanitizeUTF8Text(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	if strings.ContainsAny(s, "\x00\r") {
		s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\ufffd").Replace(s)
	}
	return s
}

// toShortLine returns s as a single line with at most maxBytes bytes. Line breaks and control characters become spaces,
// and the spaces at both ends are removed.
func toShortLine(s string, maxBytes int) string {
	if s == "" {
		return ""
	}
	s = strings.Map(func(r rune) rune {
		isHighControl := r >= 0x7f && r < 0xa0
		if isHighControl || r < ' ' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	return strings.TrimSpace(cutText(strings.TrimSpace(s), maxBytes))
}

// cutText returns the beginning of a text, with at most maxBytes bytes.
func cutText(s string, maxBytes int) string { return text.TruncateBytes(s, maxBytes) }

// cutTextAndNoteSize cuts a text that is longer than maxBytes bytes, and appends a note with the original size.
func cutTextAndNoteSize(s string, maxBytes int) string {
	if len(s) <= maxBytes {
		return s
	}
	mark := fmt.Sprintf("\n[… cut here: the text had %s]", text.FormatBytes(int64(len(s))))
	return strings.TrimSpace(cutText(s, maxBytes-len(mark))) + mark
}

// outputTail returns the last [MaxOutputLines] lines of an output. Each line is cut to maxOutputLineBytes bytes.
func outputTail(output string) string {
	output = strings.TrimRight(sanitizeUTF8Text(output), " \t\n")
	lines := strings.Split(output, "\n")
	lines = lines[max(0, len(lines)-MaxOutputLines):]
	for i, l := range lines {
		lines[i] = strings.TrimRight(cutText(l, maxOutputLineBytes), " \t")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// merge combines two reports of the same event. The result does not depend on the order of merges, and merging the
// same report again changes nothing.
func (e Event) merge(o Event) Event {
	if compareTimes(&o, &e) < 0 {
		e.Time, e.HasNoTime = o.Time, o.HasNoTime
	}
	e.SubAgent = moreInformativeAgentName(e.SubAgent, o.SubAgent)
	switch {
	case e.HasHookID == o.HasHookID:
		e.ID = preferLongerText(e.ID, o.ID)
	case e.HasHookID && o.ID != "":
		e.ID = o.ID
	case o.HasHookID && e.ID == "":
		e.ID = o.ID
	}
	e.HasHookID = e.HasHookID && o.HasHookID
	e.IsFromPromptList = e.IsFromPromptList && o.IsFromPromptList
	for _, p := range [][2]*string{
		{&e.TurnID, &o.TurnID},
		{&e.Dir, &o.Dir},
		{&e.Branch, &o.Branch},
		{&e.Model, &o.Model},
		{&e.TranscriptPath, &o.TranscriptPath}, {&e.Text, &o.Text},
	} {
		*p[0] = preferLongerText(*p[0], *p[1])
	}
	switch {
	case e.Call == nil:
		e.Call = o.Call
	case o.Call != nil:
		e.Call = e.Call.merge(o.Call)
	}
	e.Injection = e.Injection.merge(o.Injection)
	e.RepeatedCallResults = e.RepeatedCallResults.merge(o.RepeatedCallResults)
	return e
}

// moreInformativeAgentName returns the more informative of two names for the same sub-agent. Any name is preferred to
// a missing name.
func moreInformativeAgentName(a, b string) string {
	switch clientfile.UnnamedAgent {
	case a:
		return cmp.Or(b, a)
	case b:
		return cmp.Or(a, b)
	}
	return preferLongerText(a, b)
}

// compareTimes orders two reports of the same event by their times, the most exact first: a report with a true time
// comes before a report with an estimated time, and a report without a time comes last. If both times are equally
// exact, the earlier time comes first.
func compareTimes(a, b *Event) int {
	return cmp.Or(
		cmp.Compare(boolSortKey(a.Time.IsZero()), boolSortKey(b.Time.IsZero())),
		cmp.Compare(boolSortKey(a.HasNoTime), boolSortKey(b.HasNoTime)),
		a.Time.Compare(b.Time),
	)
}

// merge combines r and o, which come from two reports about the same event. Both list tool calls whose results are
// repeated word for word in a text of the event. If r or o is nil, merge returns the other.
func (r *RepeatedCallResults) merge(o *RepeatedCallResults) *RepeatedCallResults {
	if r == nil || o == nil {
		return cmp.Or(r, o)
	}
	return (&RepeatedCallResults{slices.Concat(r.ForeignTextCalls, o.ForeignTextCalls),
		slices.Concat(r.UnvouchedTextCalls, o.UnvouchedTextCalls)}).normalize()
}

// normalize returns a copy of r in the form in which it is stored. In this form, the calls' names are shortened, sorted
// and without repetitions, and each of the two lists contains at most maxTaintingCallsPerTurn names. It returns nil if
// r is nil or if both lists are empty.
func (r *RepeatedCallResults) normalize() *RepeatedCallResults {
	if r == nil || len(r.ForeignTextCalls)+len(r.UnvouchedTextCalls) == 0 {
		return nil
	}
	all := RepeatedCallResults{slices.Clone(r.ForeignTextCalls), slices.Clone(r.UnvouchedTextCalls)}
	for _, list := range []*[]string{&all.ForeignTextCalls, &all.UnvouchedTextCalls} {
		for i, s := range *list {
			(*list)[i] = toShortLine(s, maxForeignTextCallBytes)
		}
		slices.Sort(*list)
		*list = slices.Compact(*list)
		*list = (*list)[:min(len(*list), maxTaintingCallsPerTurn)]
	}
	return &all
}

// merge returns the less trusted of two judgements about who wrote a text. If one judgement is missing (nil), it
// returns the other.
func (r *TextSource) merge(o *TextSource) *TextSource {
	if r == nil {
		return o
	}
	if o != nil && o.trustSortKey() > r.trustSortKey() {
		return o
	}
	return r
}

// normalize returns the source in its stored form. An unknown level becomes TrustLevelForeignText.
func (r *TextSource) normalize() *TextSource {
	if r == nil {
		return nil
	}
	d := TextSource{
		TrustLevel:      r.TrustLevel,
		CallDescription: toShortLine(r.CallDescription, maxForeignTextCallBytes),
		TraceID:         toShortLine(r.TraceID, maxIDOrNameBytes),
	}
	if d.TrustLevel != TrustLevelOwnText && d.TrustLevel != TrustLevelUnvouchedText {
		d.TrustLevel = TrustLevelForeignText
	}
	return &d
}

// merge combines two reports of the same call. It joins the lists of files, and chooses the longer one of two different
// texts. The result does not depend on the order of the reports.
func (c *ToolCall) merge(o *ToolCall) *ToolCall {
	d := *c
	d.Tool = preferLongerText(c.Tool, o.Tool)
	d.Command = preferLongerText(c.Command, o.Command)
	d.WebQuery = preferLongerText(c.WebQuery, o.WebQuery)
	d.Output = preferLongerText(c.Output, o.Output)
	d.WrittenFiles, d.ReadFiles = normalizePaths(
		slices.Concat(c.WrittenFiles, o.WrittenFiles),
	), normalizePaths(
		slices.Concat(c.ReadFiles, o.ReadFiles),
	)
	d.OldTextHash, d.NewTextHash = preferLongerText(
		c.OldTextHash,
		o.OldTextHash,
	), preferLongerText(
		c.NewTextHash,
		o.NewTextHash,
	)
	d.FileHashBefore, d.FileHashAfter = preferLongerText(
		c.FileHashBefore,
		o.FileHashBefore,
	), preferLongerText(
		c.FileHashAfter,
		o.FileHashAfter,
	)
	d.Failed = c.Failed || o.Failed
	if exitStatusSortKey(o) > exitStatusSortKey(c) {
		d.ExitStatus = o.ExitStatus
	}
	d.ResultTextSource = c.ResultTextSource.merge(o.ResultTextSource)
	return &d
}

// merge returns the more complete of two reports about the same injection.
func (in *Injection) merge(o *Injection) *Injection {
	if in == nil {
		return o
	}
	if o != nil && preferLongerText(in.asJSON(), o.asJSON()) != in.asJSON() {
		return o
	}
	return in
}

// asJSON returns the injection as JSON, so that two records of an injection can be compared.
func (in *Injection) asJSON() string {
	b, _ := json.Marshal(in) // Ignore the error: a normalized injection can always be encoded.
	return string(b)
}

// preferLongerText returns the longer of two texts. If both texts have the same length, it returns the one that is
// greater in byte order, so that the result does not depend on the order of the arguments.
func preferLongerText(a, b string) string {
	if cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) < 0 {
		return b
	}
	return a
}
