// This file composes the context of a model.

package coderhapsody

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/profile"
)

//go:embed prompt.md
var layoutInstructions string

// These are the names of the parts of which the context for an agent consists.
const (
	contextPartIdentity     = "identity"
	contextPartMemory       = "memory"
	contextPartInstructions = "instructions"
	contextPartLog          = "log"
	contextPartDigest       = "digest"
	contextPartRecall       = "recall"
)

// minNewestLogsInContext is the number of logs, the newest first, that are always shown to a model at the start of a
// session.
const minNewestLogsInContext = 2

// These constants limit the entries that are recalled for a message, as in CodeRhapsody.
const (
	minMessageChars    = 50   // minimum length, in characters, of a message for which entries are recalled
	maxRecalledEntries = 3    // maximum number of entries that are recalled for a message
	maxSnippetChars    = 800  // maximum length of each entry, in characters
	maxRecallBytes     = 6144 // maximum size of all entries, in bytes
)

// Context implements [layout.Home]. Without a profile, the context contains SOUL.md, MEMORY.md,
// instructions for the tools and the two newest logs. Older logs and digests follow, newest first,
// as far as the budget allows. The default budget is [profile.DefaultMaxTokens]. If the request
// has a message, the entries recalled for the message are added. With a profile, the profile's
// selection replaces everything except the recalled entries.
func (h *home) Context(ctx context.Context, r layout.Request) (prompt.Context, error) {
	c, err := h.systemPromptContext(ctx, r)
	if err != nil {
		return prompt.Context{}, err
	}
	before, err := h.recallEntries(ctx, r.Message, entryNames(c))
	if err != nil {
		return prompt.Context{}, err
	}
	if len(before.Parts) == 0 {
		return c, nil
	}
	c.Add(before.Parts...)
	h.cutToTokenBudget(&c, r.Budget)
	return c, nil
}

// tokenBudgetOrDefault returns the token budget for a request. If requestedBudget is positive, it is the budget.
// Otherwise the budget comes from h.boundProfile, or profile.DefaultMaxTokens if no profile is bound.
func (h *home) tokenBudgetOrDefault(requestedBudget int) int {
	switch {
	case requestedBudget > 0:
		return requestedBudget
	case h.boundProfile != nil:
		return h.boundProfile.MaxTokens
	}
	return profile.DefaultMaxTokens
}

// cutToTokenBudget shortens a context to the budget of a request.
func (h *home) cutToTokenBudget(c *prompt.Context, budget int) {
	c.PackIntoBudget(h.tokenBudgetOrDefault(budget))
}

// systemPromptContext returns the context that does not depend on recalled entries: SOUL.md, MEMORY.md, the
// instructions, and as many logs and digests as the budget of the request allows. If a profile is bound, it returns the
// selection of the profile instead.
func (h *home) systemPromptContext(ctx context.Context, r layout.Request) (prompt.Context, error) {
	if h.boundProfile != nil {
		sel, err := h.profiles.Select(
			ctx,
			h.wholeMemory,
			h.boundProfile,
			profile.Request{Query: r.Message, Budget: r.Budget},
		)
		return sel.Context, err
	}
	var c prompt.Context
	for _, d := range []struct{ name, file string }{{contextPartIdentity, soulFile}, {contextPartMemory, memoryFile}} {
		s, _, err := h.Tree.Document(ctx, d.file)
		if err != nil {
			return c, err
		}
		s = strings.TrimPrefix(s, "\ufeff")
		if strings.TrimSpace(s) != "" {
			c.Add(prompt.Part{Name: d.name, Source: d.file, IsPinned: true, Reason: "always there"}.
				WithFrame("<!-- "+d.file+" -->\n", strings.TrimRight(s, "\n"), "\n\n"))
		}
	}
	c.Add(
		prompt.Part{
			Name:     contextPartInstructions,
			IsPinned: true,
			Reason:   "says how to use the tools",
			Text: layoutInstructions +
				"\n",
		},
	)
	tried, left := 0, prompt.OmittedText{Name: contextPartLog, Reason: "over the budget: four times as much is newer"}
	more := 0
	err := h.Tree.ViewTree(ctx, func(v mdtree.TreeView) error {
		logs := 0
		for _, f := range h.logsWithoutDigestForContext(v) {
			name := contextPartDigest
			why := "the newest first"
			pinned := false
			if f.spanName == "day" {
				logs++
				name = contextPartLog
				pinned = logs <= minNewestLogsInContext
				if pinned {
					why = fmt.Sprintf("one of the %d newest logs", minNewestLogsInContext)
				}
			}
			for _, it := range v.Items(f.logPath) {
				switch {
				case it.Entry.Kind == oxbow.Handoff, !it.Entry.MayShow(oxbow.WithoutLabels):
				case !pinned && tried > 4*h.tokenBudgetOrDefault(r.Budget):
					more++
					left.Tokens += len(it.Entry.Content) / 4
				default:
					c.Add(entryPart(&it.Entry, name, why, pinned))
					tried += len(it.Entry.Content) / 4
				}
			}
		}
		return nil
	})
	h.cutToTokenBudget(&c, r.Budget)
	if more > 0 {
		left.Source = fmt.Sprintf("%d more entries", more)
		c.OmittedTexts = append(c.OmittedTexts, left)
	}
	return c, err
}

// logWithoutDigest is a log that no digest covers.
type logWithoutDigest struct {
	logFile
	logPath string
}

// logsWithoutDigestForContext returns the logs that can be put into the agent's context because no digest replaces
// them. Each kind of log is sorted from newest to oldest. The kinds are daily logs, weekly and monthly digests, and
// buckets. A bucket is a summary that CodeRhapsody itself writes. These are the special cases:
//   - A daily log is left out if a bucket contains its session.
//   - A log in summarizedLogsDir is included if its digest is gone, because a person removed it.
func (h *home) logsWithoutDigestForContext(v mdtree.TreeView) []logWithoutDigest {
	var days, buckets, covered, all []logWithoutDigest
	isCovered := map[string]bool{}
	for p := range v.Files() {
		f, ok := parseLogPath(p, h.Zone)
		if !ok {
			continue
		}
		l := logWithoutDigest{f, p}
		if f.spanName == "week" || f.spanName == "month" {
			h.addSummarizedFiles(v, p, isCovered)
		}
		switch {
		case f.isInSummarizedLogsDir:
			covered = append(covered, l)
		case f.spanName == "day":
			days = append(days, l)
		case f.spanName == "bucket":
			buckets = append(buckets, l)
			all = append(all, l)
		default:
			all = append(all, l)
		}
	}
	for _, l := range covered {
		switch {
		case isCovered[path.Base(l.logPath)]:
		case l.spanName == "day":
			days = append(days, l)
		default:
			all = append(all, l)
		}
	}
	for _, d := range days {
		if !slices.ContainsFunc(buckets, func(b logWithoutDigest) bool { return d.isSessionInBucket(b.logFile) }) {
			all = append(all, d)
		}
	}
	slices.SortStableFunc(all, compareInContextOrder)
	return all
}

// addSummarizedFiles adds the names of the logs that the digest digestFile replaces to the set isCovered. Parts of the
// digest that cannot be parsed are ignored.
func (h *home) addSummarizedFiles(v mdtree.TreeView, digestFile string, isCovered map[string]bool) {
	text, _ := v.FileText(digestFile)
	_, ps, _ := logLayout{h.Zone}.splitEntryBlocks(digestFile, text)
	for _, q := range ps {
		for _, c := range q.frontMatter.summarizedFiles {
			isCovered[c] = true
		}
	}
}

// logOrderBySpan says in which order logs appear in an agent's context, by the time span of a log. Lower numbers
// come first. A bucket is a summary that CodeRhapsody itself writes.
var logOrderBySpan = map[string]int{"day": 0, "week": 1, "month": 2, "bucket": 3}

// compareInContextOrder compares two logs. Logs with different kinds of time spans are ordered by the kind, such as
// "day" (see logOrderBySpan). Logs with the same kind of span are ordered from newest to oldest.
func compareInContextOrder(a, b logWithoutDigest) int {
	return cmp.Or(
		logOrderBySpan[a.spanName]-logOrderBySpan[b.spanName],
		b.firstDay.Compare(a.firstDay),
		b.logNumber()-a.logNumber(),
		strings.Compare(b.logPath, a.logPath),
	)
}

// logNumber returns the number in the name of a day's log, or 0 for a name without a number.
func (f logFile) logNumber() int {
	i := strings.LastIndexByte(f.entryNamePrefix, '-')
	n, err := strconv.Atoi(strings.TrimPrefix(f.entryNamePrefix[i+1:], "session"))
	if err != nil || len(f.entryNamePrefix) <= len("2006-01-02") {
		return 0
	}
	return n
}

// entryPart returns the part of the context that shows the entry e. The part contains the entry's name, kind, date and
// labels, and then the content in a code fence. name, reason and isPinned become the fields Name, Reason and IsPinned
// of the part. The part's function Shorten cuts the content after a paragraph, or returns "" if no paragraph fits.
func entryPart(e *oxbow.Entry, name, reason string, isPinned bool) prompt.Part {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s, %s", strconv.Quote(e.Name), e.Kind, e.Created.UTC().Format(time.DateOnly))
	for _, l := range e.Labels {
		b.WriteString(", " + l.String())
	}
	b.WriteString("\n\n")
	head := b.String()
	return prompt.Part{Name: name, Source: e.Name, IsPinned: isPinned, Reason: reason,
		Text: head + prompt.FenceText("markdown", e.Content) + "\n",
		Shorten: func(tokens int) string {
			render := func(s string) string {
				return head + prompt.FenceText("markdown", s) + "\n(cut here: recall_memory finds the rest)\n\n"
			}
			cut := prompt.FitParagraphs(
				e.Content,
				func(s string) bool { return prompt.EstimateTokens(render(s)) <= tokens },
			)
			if cut == "" {
				return ""
			}
			return render(cut)
		}}
}

// entryNames returns the names of the entries in a context.
func entryNames(c prompt.Context) map[string]bool {
	in := map[string]bool{}
	for _, p := range c.Parts {
		switch p.Name {
		case contextPartLog, contextPartDigest, profile.PartEntry:
			in[p.Source] = true
		}
	}
	return in
}

// recallEntries returns a part of a prompt that contains the entries that match the message. The model is shown this
// part before the message. The entries in namesInContext are left out, because the model was already shown these
// entries. An entry is also left out if the part would become larger than maxRecallBytes. The result is not stored. It
// is empty if the message is too short or no entry matches.
func (h *home) recallEntries(
	ctx context.Context,
	message string,
	namesInContext map[string]bool,
) (prompt.Context, error) {
	var c prompt.Context
	message = strings.TrimSpace(message)
	if utf8.RuneCountInString(message) < minMessageChars {
		return c, nil
	}
	hits, _, err := verb.RecallWithoutDigests(
		ctx,
		h.HomeMemory,
		oxbow.Query{
			Text:   message,
			Limit:  min(oxbow.MaxLimit, maxRecalledEntries+len(namesInContext)),
			Filter: oxbow.WithoutLabels.Filter(),
		},
	)
	if err != nil {
		return c, err
	}
	const head = "[Auto-recalled memories]\n"
	var b strings.Builder
	var names []string
	words := strings.Fields(strings.ToLower(message))
	for _, hit := range hits {
		if len(names) == maxRecalledEntries {
			break
		}
		e := hit.Entry
		if namesInContext[e.Name] {
			continue
		}
		from, err := h.Tree.Locate(ctx, e.Name)
		if err != nil {
			continue // skip the entry, because it was deleted in the meantime
		}
		said := fmt.Sprintf(
			"\nFrom %s — %s:\n> %s\n",
			path.Base(from.Path),
			strings.Join(strings.Fields(e.Name), " "),
			text.Snippet(e.Content, words, maxSnippetChars),
		)
		if len(head)+b.Len()+len(said) > maxRecallBytes {
			continue
		}
		b.WriteString(said)
		names = append(names, e.Name)
	}
	if len(names) > 0 {
		c.Add(prompt.Part{Name: contextPartRecall, Source: strings.Join(names, ", "), Role: prompt.RoleUser,
			Reason: "found by the message", Text: head + b.String()})
		c.FitToBudget(0)
	}
	return c, nil
}
