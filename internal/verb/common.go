// This file contains functions that several verbs use: for filters and limits, and for advice if a name or a query
// finds nothing.

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

// snippetWidth is the maximum length of a snippet in bytes, about 40 tokens.
const snippetWidth = 160

var makeSnippet = text.Snippet

// CombineFilter returns a filter for entries. An entry matches the filter if it matches the query text in the parameter
// filter and meets all conditions in n. The parameter now is the current time, from which relative dates such as 7d are
// computed. CombineFilter returns an error if the query text, a label or a date is not valid.
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

// TimeFilter returns the filter for a date. The argument filterKey determines how the filter uses the date. It is a key
// that [query.TimeFilter] accepts, for example "after". If date is empty, the filter selects all entries. The argument
// paramName is the name of the parameter that contains the date. If the date is invalid, the error contains this name.
func TimeFilter(paramName, filterKey, date string, now time.Time) (oxbow.Filter, error) {
	if date == "" {
		return oxbow.Filter{}, nil
	}
	f, err := query.TimeFilter(filterKey, date, now)
	if invalid, ok := errors.AsType[*oxbow.InvalidError](err); ok {
		return f, InvalidValue(paramName, date, invalid.Reason)
	}
	return f, err
}

// ResolveLimit returns the limit that a call uses: the requested one, or the default if requested is nil. If the limit
// had to be reduced, a note says so.
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

// checkVersionCondition returns an error for version 0. In package oxbow, 0 means any version, which a caller of a verb
// cannot have meant.
func checkVersionCondition(v *uint64) error {
	if v != nil && *v == 0 {
		return InvalidValue(
			"if_version",
			"0",
			"is no version; take the version from an earlier answer, or leave it out",
		)
	}
	return nil
}

// EmptyIfNil returns an empty slice instead of nil, so that the JSON contains a list and not null.
func EmptyIfNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// similarNames returns names and aliases of entries that are similar to name, the most similar first. It returns at
// most limit.
func similarNames(ctx context.Context, m *oxbow.Memory, name string, limit int) ([]string, error) {
	similar := text.NewSimilarTexts(name, limit)
	use := func(entryName string, aliases []string) bool {
		for _, alias := range aliases {
			similar.Add(alias)
		}
		similar.Add(entryName)
		return true
	}
	if names, ok := m.Store().(nameLister); ok {
		isWanted := func(nameOrAlias []byte) bool { return similar.WouldAdd(nameOrAlias, 0) }
		ok, err := names.EachName(ctx, nil, isWanted, use)
		if ok || err != nil {
			return similar.Texts(), err
		}
	}
	err := eachEntryName(ctx, m, func(e *oxbow.Entry) bool {
		return !e.MayShow(oxbow.BySearch) || use(e.Name, e.Aliases)
	}, oxbow.BySearch.HeldLabels()...)
	return similar.Texts(), err
}

// nameLister is a store that lists the names and aliases of its entries without reading the entries. It leaves out
// entries in quarantine, and entries for whose name and aliases isWanted returns false. If ok is false, the names
// cannot be listed in this way.
type nameLister interface {
	EachName(
		ctx context.Context,
		isListed func(id, version uint64) bool,
		isWanted func(nameOrAlias []byte) bool,
		use func(name string, aliases []string) bool,
	) (ok bool, err error)
}

// eachEntryName calls fn for each entry, until fn returns false. The entry contains name and aliases, and only the
// labels with the given keys. fn may be called again for the same entry. If the store has an index of names, few
// entries are read.
func eachEntryName(ctx context.Context, m *oxbow.Memory, fn func(e *oxbow.Entry) bool, labelKeys ...string) error {
	asked := heads.Needs{Keys: append(labelKeys, oxbow.HeadName)}
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

// unknownNameError is the error for an unknown name, with information that helps to find the entry.
type unknownNameError struct {
	err          error
	name         string
	similarNames []string
	// number of the change that removed the entry, and the last version's number (0 if unknown)
	removalChangeNumber, lastVersionNumber uint64
	versionNames                           []string // existing versions of the entry, such as NAME@SEQ, newest first
}

func (e *unknownNameError) Error() string { return e.err.Error() }
func (e *unknownNameError) Unwrap() error { return e.err }

func (e *unknownNameError) remedy() Note {
	var ns []Note
	switch {
	case e.lastVersionNumber != 0:
		ns = append(ns, Notef(
			"it was forgotten by change %d; %s",
			e.removalChangeNumber,
			&CallHint{
				Verb:   "restore",
				Args:   []HintArgument{{"name", e.name}, {"seq", e.lastVersionNumber}},
				Effect: "brings it back",
			},
		))
	case e.removalChangeNumber != 0:
		ns = append(ns, Notef("it was forgotten by change %d", e.removalChangeNumber))
	}
	if len(e.versionNames) > 0 {
		ns = append(
			ns,
			Notef("there is %s; %s shows all versions", strings.Join(e.versionNames, ", "), VerbRef("history")),
		)
	} else if len(e.similarNames) > 0 {
		ns = append(ns, PlainNote("nearest names: "+text.QuoteAll(e.similarNames)))
	} else if e.removalChangeNumber == 0 {
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

// explainNoHits explains why a query found nothing. It returns at least one reason. It also returns the names and
// label values that are similar to the words in the query.
func explainNoHits(
	ctx context.Context,
	m *oxbow.Memory,
	q oxbow.Query,
	dates DateFilterTerms,
) (reasons []Note, similarTexts []string, err error) {
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

// EmptyResultReasons returns the reasons why a query found nothing. singular and plural are the noun for the searched
// things, such as "entry" and "entries". timeTerms contains the words that the caller used for times.
func EmptyResultReasons(
	diagnosis oxbow.Diagnosis,
	q oxbow.Query,
	timeTerms DateFilterTerms,
	singular, plural string,
) (reasons []Note) {
	if diagnosis.StopWords {
		reasons = append(reasons, newWordlessQueryNote(q.Text))
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
	for _, r := range diagnosis.Removed[:min(len(diagnosis.Removed), maxWordsInNote)] {
		part := cmp.Or(r.Clause, timeTerms.formatFilter(r.Filter))
		switch {
		// If no entry contains the words even without a filter, the filter is not the reason for the empty result, so
		// add no reason about it.
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
		reasons = append(
			reasons,
			Notef("without the filter %s, %s would be found", timeTerms.formatFilter(q.Filter), n),
		)
	}
	if len(reasons) == 0 {
		reasons = append(
			reasons,
			Notef("none of the %s matches", text.FormatCount(diagnosis.Entries, singular, plural)),
		)
	}
	return reasons
}

// mistypedLabelHints returns hints about filter terms that probably contain a mistake. A term with an unknown key is
// taken as a label. If the query finds nothing with such a term (r.Left is 0), the term is probably a mistake in two
// cases: its key is similar to a key of the filter language, or its value is a date.
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
		// Check only whether the value has the form of a date. The result does not depend on the current time, so any
		// time will do.
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

// DateFilterTerms contains the terms of a filter that select by time, as the caller typed them, such as on:yesterday.
type DateFilterTerms []dateTerm

// dateTerm is a search term for dates as a person typed it, and the range of time that it selects.
type dateTerm struct {
	originalTerm string
	timeRange    oxbow.Filter
}

// ParseDateFilterTerms returns the filter terms that select entries by time, such as after:2026-04-18. It searches for
// such terms in the strings in the argument texts, which contain queries and filters. It also makes a term from each of
// n.CreatedAfter, n.CreatedBefore and n.CreatedUntil that is not empty. A term that is not a valid time filter is
// ignored. The argument now is the current time, for relative dates.
func (n EntrySelection) ParseDateFilterTerms(now time.Time, texts ...string) (dates DateFilterTerms) {
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

// formatFilter returns the filter f as people type it. The receiver dates contains terms for ranges of time that a
// person typed, such as on:yesterday. If the range of such a term is equal to the range of f, formatFilter uses this
// term. Otherwise, a range of one day becomes a term such as on:2026-11-27. The start of another range becomes a term
// with after:, and its end becomes a term with before:. Such a term contains only a date if the time is midnight.
func (dates DateFilterTerms) formatFilter(f oxbow.Filter) string {
	parts := []string{oxbow.Filter{Terms: f.Terms}.Brief()}
	for _, d := range dates {
		hasAfter := d.timeRange.After.IsZero() || d.timeRange.After.Equal(f.After)
		hasBefore := d.timeRange.Before.IsZero() || d.timeRange.Before.Equal(f.Before)
		if !hasAfter || !hasBefore {
			continue
		}
		parts = append(parts, d.originalTerm)
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
		parts = append(parts, formatTimeBound("after:", f.After), formatTimeBound("before:", f.Before))
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// formatTimeBound returns the filter term for one bound of a time range, such as "after:2026-11-27". The term begins
// with termPrefix. If the time at is zero, there is no bound, and formatTimeBound returns "".
func formatTimeBound(termPrefix string, at time.Time) string {
	switch {
	case at.IsZero():
		return ""
	case isMidnight(at):
		return termPrefix + at.Format(time.DateOnly)
	}
	return termPrefix + at.UTC().Format(time.RFC3339Nano)
}

// isMidnight reports whether a time is exactly the beginning of a day.
func isMidnight(t time.Time) bool {
	return t.Hour() == 0 && t.Minute() == 0 && t.Second() == 0 && t.Nanosecond() == 0
}

// newWordlessQueryNote returns a note that explains that a query contains no word to search for.
func newWordlessQueryNote(query string) Note {
	if !hasWords(query) {
		return PlainNote("the query has no letters, digits or emoji; other signs are not searched")
	}
	return PlainNote(
		"the query holds only words that are too common or too short to look for; use rarer words, or list with a " +
			"filter",
	)
}

// hasWords reports whether a text contains a letter or a digit.
func hasWords(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

// maxWordsInNote limits a note about a query. The note lists at most this many of the query's words or terms.
const maxWordsInNote = 10

// joinFirstWords joins words with commas. It joins at most maxWordsInNote words, and adds the number of further words.
func joinFirstWords(words []string) string {
	if more := len(words) - maxWordsInNote; more > 0 {
		return strings.Join(words[:maxWordsInNote], ", ") + " and " + strconv.Itoa(more) + " more"
	}
	return strings.Join(words, ", ")
}

func formatCountWithVerb(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return strconv.Itoa(n) + " " + noun + "s are"
}

// DefaultListLimit is the number of items that the verbs "list" and "history" return by default.
const DefaultListLimit = 20

func InvalidValue(field, value, reason string) error {
	return &oxbow.InvalidError{
		Field:  field,
		Value:  text.TruncateWithEllipsis(value, 60),
		Reason: strings.TrimSuffix(reason, "."),
	}
}

// lowerFirstLetter returns a sentence whose first letter is in lower case, so that it can follow other words.
func lowerFirstLetter(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[n:]
}
