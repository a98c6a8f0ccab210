// This file has functions that several verbs share: for filters, limits, and advice if a name or a
// query finds nothing.

package verb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/syntax"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/query"
	"github.com/oxbow-memory/oxbow/store/heads"
)

// snippetWidth is the width of a snippet in bytes, about 40 tokens.
const snippetWidth = 160

var snippet = text.Snippet

// CombineFilter returns the filter that combines a filter with all parameters.
func (n EntrySelection) CombineFilter(filter string, now time.Time) (oxbow.Filter, error) {
	f, err := query.ParseFilter(filter, now)
	if err != nil {
		return oxbow.Filter{}, err
	}
	for _, p := range labelParams {
		if p.requiredValues == nil {
			continue
		}
		for _, v := range p.requiredValues(n) {
			if err := (oxbow.Label{Key: p.key, Value: v}).Check(); err != nil {
				return oxbow.Filter{}, err
			}
			f.Terms = append(f.Terms, oxbow.Term{Key: p.key, Values: []string{v}})
		}
	}
	if n.Kind != "" {
		f.Terms = append(f.Terms, oxbow.Term{Key: "kind", Values: []string{n.Kind}})
	}
	for _, bound := range [][2]string{{"after", n.CreatedAfter}, {"before", n.CreatedBefore}, {"until",
		n.CreatedUntil}} {
		bounds, err := TimeFilter(bound[0], bound[0], bound[1], now)
		if err != nil {
			return oxbow.Filter{}, err
		}
		f = f.And(bounds)
	}
	return f, nil
}

// TimeFilter returns the filter for a date and a key that [query.TimeFilter] accepts. An empty date
// selects everything. An error names the parameter that has the date.
func TimeFilter(param, key, date string, now time.Time) (oxbow.Filter, error) {
	if date == "" {
		return oxbow.Filter{}, nil
	}
	f, err := query.TimeFilter(key, date, now)
	if invalid, ok := errors.AsType[*oxbow.InvalidError](err); ok {
		return f, InvalidValue(param, date, invalid.Reason)
	}
	return f, err
}

// ResolveLimit returns the limit to use, and a note if it differs from the requested limit.
func ResolveLimit(requested *int, defaultLimit int) (limit int, notes []Note, err error) {
	switch {
	case requested == nil:
		return defaultLimit, nil, nil
	case *requested < 1:
		return 0, nil, InvalidValue(
			"limit",
			strconv.Itoa(*requested),
			fmt.Sprintf("would return nothing; give 1 to %d, or leave it out for %d", oxbow.MaxLimit, defaultLimit),
		)
	case *requested > oxbow.MaxLimit:
		return oxbow.MaxLimit, []Note{
			Notef("limit %d was lowered to %d, the most there is", *requested, oxbow.MaxLimit),
		}, nil
	}
	return *requested, nil, nil
}

// checkIfVersion refuses 0, which the library would read as any version.
func checkIfVersion(v *uint64) error {
	if v != nil && *v == 0 {
		return InvalidValue(
			"if_version",
			"0",
			"is no version; take the version from an earlier answer, or leave it out",
		)
	}
	return nil
}

// EmptyIfNil returns an empty slice instead of nil, so that JSON has a list.
func EmptyIfNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// similarNames returns at most limit names and aliases of entries that are similar to name, the best
// first.
func similarNames(ctx context.Context, m *oxbow.Memory, name string, limit int) ([]string, error) {
	var err error
	near := text.FindSimilar(name, func(yield func(string) bool) {
		err = eachEntryName(ctx, m, func(e *oxbow.Entry) bool {
			if !e.MayShow(oxbow.BySearch) {
				return true
			}
			for _, alias := range e.Aliases {
				if !yield(alias) {
					return false
				}
			}
			return yield(e.Name)
		}, oxbow.BySearch.HeldLabels()...)
	}, limit)
	return near, err
}

// eachEntryName calls fn with the name, aliases and the labels with some keys of each entry, until fn
// returns false. It may call fn again for the same entries. It reads few entries if the store has
// the names apart.
func eachEntryName(ctx context.Context, m *oxbow.Memory, fn func(e *oxbow.Entry) bool, keys ...string) error {
	asked := heads.Needs{Keys: append(keys, oxbow.HeadName)}
	more := true
	return heads.View(ctx, m.Store(), asked, func(all heads.List) error {
		for h, err := range all.All {
			if err != nil {
				return err
			}
			more = more && fn(h.Entry)
			if !more {
				break
			}
		}
		return nil
	})
}

// unknownNameError reports an unknown name, with information that may help to find the entry.
type unknownNameError struct {
	err                 error
	name                string
	similarNames        []string
	removedSeq, lastSeq uint64   // change that removed the entry, and its version before (0 if unknown)
	versions            []string // existing versions that NAME@SEQ could mean, newest first
}

func (e *unknownNameError) Error() string { return e.err.Error() }
func (e *unknownNameError) Unwrap() error { return e.err }

func (e *unknownNameError) remedy() Note {
	var ns []Note
	switch {
	case e.lastSeq != 0:
		ns = append(ns, Notef("it was forgotten by change %d; %s", e.removedSeq,
			&CallHint{Verb: "restore", Args: []Arg{{"name", e.name}, {"seq", e.lastSeq}}, Does: "brings it back"}))
	case e.removedSeq != 0:
		ns = append(ns, Notef("it was forgotten by change %d", e.removedSeq))
	}
	if len(e.versions) > 0 {
		ns = append(
			ns,
			Notef("there is %s; %s shows all versions", strings.Join(e.versions, ", "), VerbRef("history")),
		)
	} else if len(e.similarNames) > 0 {
		ns = append(ns, PlainNote("nearest names: "+text.QuoteAll(e.similarNames)))
	} else if e.removedSeq == 0 {
		ns = append(
			ns,
			Notef(
				"no name is near to it; %s searches what the entries say, %s shows what there is",
				VerbRef("recall"),
				VerbRef("list"),
			),
		)
	}
	return JoinNotes(ns)
}

// explainNoHits explains why a query found nothing. It returns at least one reason, and the names and label values
// that are similar to the words of the query.
func explainNoHits(
	ctx context.Context,
	m *oxbow.Memory,
	q oxbow.Query,
	dates DateTerms,
) (reasons []Note, similar []string, err error) {
	g, err := m.Diagnose(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	if g.Entries == 0 && q.AsOf != 0 {
		return []Note{Notef("the memory held no entries after change %d", q.AsOf)}, nil, nil
	}
	if g.Entries == 0 {
		return []Note{PlainNote("the memory holds no entries yet; remember adds the first")}, nil, nil
	}
	return EmptyResultReasons(g, q, dates, "entry", "entries"), g.Near, nil
}

// EmptyResultReasons returns the reasons why a query found nothing. The arguments singular and plural are the noun for
// the searched items, such as "entry" and "entries". A time range is named as in dates.
func EmptyResultReasons(
	diagnosis oxbow.Diagnosis,
	q oxbow.Query,
	dates DateTerms,
	singular, plural string,
) (reasons []Note) {
	if diagnosis.StopWords {
		reasons = append(reasons, noWordsNote(q.Text))
	}
	var unknown, known []string
	for _, t := range diagnosis.Terms {
		if t.DF == 0 {
			unknown = append(unknown, strconv.Quote(t.Word))
		} else {
			known = append(known, fmt.Sprintf("%q in %s", t.Word, text.FormatCount(t.DF, singular, plural)))
		}
	}
	if len(unknown) > 0 {
		reasons = append(reasons, PlainNote("no "+singular+" holds "+joinFirstWords(unknown)))
	}
	if len(known) > 0 {
		reasons = append(reasons, PlainNote("found, before the filter: "+joinFirstWords(known)))
	}
	for _, r := range diagnosis.Removed[:min(len(diagnosis.Removed), maxNamedWords)] {
		part := cmp.Or(r.Clause, dates.filterText(r.Filter))
		switch {
		// the words would find nothing even without the filter
		case r.Left == 0 && diagnosis.Unfiltered == 0 && len(diagnosis.Terms) > 0:
		case r.Left == 0:
			reasons = append(reasons, Notef("filter %s alone removes all that was found", part))
		default:
			reasons = append(
				reasons,
				Notef("filter %s alone leaves %s", part, text.FormatCount(r.Left, singular, plural)),
			)
		}
	}
	reasons = append(reasons, mistypedLabelHints(diagnosis)...)
	if diagnosis.Unfiltered > 0 && !q.Filter.IsZero() {
		n := text.FormatCount(diagnosis.Unfiltered, singular, plural)
		if diagnosis.Unfiltered == oxbow.MaxLimit {
			n += " or more"
		}
		reasons = append(reasons, Notef("without the filter %s, %s would be found", dates.filterText(q.Filter), n))
	}
	if len(reasons) == 0 {
		reasons = append(
			reasons,
			Notef("none of the %s matches", text.FormatCount(diagnosis.Entries, singular, plural)),
		)
	}
	return reasons
}

// mistypedLabelHints returns hints about filter terms with an unknown key that select no entry. Such a term selects by
// a label with this key. The caller probably made a mistake if the key is similar to a key of the filter language, or
// if the value is a date.
func mistypedLabelHints(diagnosis oxbow.Diagnosis) (hints []Note) {
	for _, r := range diagnosis.Removed {
		if r.Left > 0 || len(r.Filter.Terms) == 0 {
			continue
		}
		t := r.Filter.Terms[0]
		if syntax.IsKnownKey(t.Key) || len(t.Values) == 0 {
			continue
		}
		if near := syntax.NearestKey(t.Key); near != "" {
			hints = append(hints, Notef("%s is no word of filters, so it is taken as a label; did you mean %s:%s?",
				t.Key, near, t.Values[0]))
			continue
		}
		// Any time will do, because only the form of the date counts.
		if _, err := query.TimeFilter("on", t.Values[0], time.Unix(0, 0)); err == nil {
			hints = append(
				hints,
				Notef("%s is taken as a label; on:%s, after:%s and before:%s select by the time of the "+
					"last change", t.Key, t.Values[0], t.Values[0], t.Values[0]),
			)
		}
	}
	return hints
}

// DateTerms contains the filter terms that select by time, as the caller typed them, such as on:yesterday.
type DateTerms []dateTerm

// dateTerm is such a term with its time range.
type dateTerm struct {
	term      string
	timeRange oxbow.Filter
}

// DateTerms returns the filter terms by time in the texts, which are queries and filters, and in the parameters.
func (n EntrySelection) DateTerms(now time.Time, texts ...string) (dates DateTerms) {
	terms := strings.Fields(strings.Join(texts, " "))
	for _, bound := range [][2]string{{"after", n.CreatedAfter}, {"before", n.CreatedBefore}, {"until",
		n.CreatedUntil}} {
		if bound[1] != "" {
			terms = append(terms, bound[0]+":"+bound[1])
		}
	}
	for _, term := range terms {
		key, date, _ := strings.Cut(term, ":")
		if f, err := query.TimeFilter(key, date, now); err == nil {
			dates = append(dates, dateTerm{term, f})
		}
	}
	return dates
}

// filterText returns a filter in the form that people type. A time range has the words of the caller if
// they are known. Otherwise a range of a single day becomes on:2026-11-27, and other bounds at midnight become
// dates.
func (dates DateTerms) filterText(f oxbow.Filter) string {
	parts := []string{oxbow.Filter{Terms: f.Terms}.Brief()}
	for _, d := range dates {
		hasAfter := d.timeRange.After.IsZero() || d.timeRange.After.Equal(f.After)
		hasBefore := d.timeRange.Before.IsZero() || d.timeRange.Before.Equal(f.Before)
		if !hasAfter || !hasBefore {
			continue
		}
		parts = append(parts, d.term)
		if !d.timeRange.After.IsZero() {
			f.After = time.Time{}
		}
		if !d.timeRange.Before.IsZero() {
			f.Before = time.Time{}
		}
	}
	switch {
	case !f.After.IsZero() && f.Before.Equal(f.After.AddDate(0, 0, 1)) && isMidnight(f.After):
		parts = append(parts, "on:"+f.After.Format(time.DateOnly))
	default:
		parts = append(parts, timeBoundText("after:", f.After), timeBoundText("before:", f.Before))
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// timeBoundText returns a bound of a time range, or "" if there is none.
func timeBoundText(key string, at time.Time) string {
	switch {
	case at.IsZero():
		return ""
	case isMidnight(at):
		return key + at.Format(time.DateOnly)
	}
	return key + at.UTC().Format(time.RFC3339Nano)
}

// isMidnight reports whether a time is the beginning of a day.
func isMidnight(t time.Time) bool {
	return t.Hour() == 0 && t.Minute() == 0 && t.Second() == 0 && t.Nanosecond() == 0
}

// noWordsNote explains why a query contains no word to search for.
func noWordsNote(query string) Note {
	if !hasWords(query) {
		return PlainNote("the query has no letters, digits or emoji; other signs are not searched")
	}
	return PlainNote(
		"the query holds only words that are too common or too short to look for; use rarer words, or list with a " +
			"filter",
	)
}

// hasWords reports whether a text has a letter or a digit.
func hasWords(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

// maxNamedWords is the maximum number of the query's words or terms that an answer
// names.
const maxNamedWords = 10

// joinFirstWords joins the first words with commas, at most maxNamedWords, and adds the number of omitted words.
func joinFirstWords(words []string) string {
	if more := len(words) - maxNamedWords; more > 0 {
		return strings.Join(words[:maxNamedWords], ", ") + " and " + strconv.Itoa(more) + " more"
	}
	return strings.Join(words, ", ")
}

func countWithIs(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return strconv.Itoa(n) + " " + noun + "s are"
}

// DefaultListLimit is the default number of items returned by list and history.
const DefaultListLimit = 20

func InvalidValue(field, value, reason string) error {
	return &oxbow.InvalidError{
		Field:  field,
		Value:  text.TruncateWithEllipsis(value, 60),
		Reason: strings.TrimSuffix(reason, "."),
	}
}

// lowerFirst returns a sentence with a lower-case first letter, for use after other words.
func lowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[n:]
}
