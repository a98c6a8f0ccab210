// This file implements the verb recall_memory. It is recall with parameters for date, project, tags, kind, file and
// words, for agents that work with memory profiles.

package verb

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// NewRecallMemoryTool returns the verb recall_memory. It is not among the standard tools, because the verb recall with
// a filter does the same. An interface may offer recall_memory to agents that know this name. The filter terms in the
// argument terms apply only to calls that contain a date or a range of days, but no words or kind. The result of such a
// call contains only entries that match these filter terms.
func NewRecallMemoryTool(terms ...oxbow.Term) Tool {
	return defineTool(
		"recall_memory",
		"Recall memories",
		verbTraits{readOnly: true, idempotent: true},
		func(ctx context.Context, w *Workspace, in recallMemoryIn) (RecallOut, error) {
			return recallMemory(ctx, w, in, terms)
		},
	)
}

// recallMemoryIn is the argument of recall_memory.
type recallMemoryIn struct {
	Query        string   `json:"query,omitempty"        also:"q,search,text"         jsonschema:"Words."                                                usage:"Words to look for; what fits them best comes first."`
	Date         string   `json:"date,omitempty"         also:"day,on"                jsonschema:"Day (2026-04-18), month (2026-04), year or yesterday." usage:"Only memories made on this day (2026-04-18), in this month (2026-04) or year."`
	DateRange    []string `json:"date_range,omitempty"   also:"dates,range"           jsonschema:"First and last day, both in; .. leaves a side open."   usage:"First and last day, both included; .. leaves a side open."`
	Project      string   `json:"project,omitempty"      also:"project_name"                                                                             usage:"Only memories of this project."`
	Tags         []string `json:"tags,omitempty"         also:"tag,labels"                                                                               usage:"Only memories with these tags."                                                flag:"tag"`
	TagMatchMode string   `json:"tags_match,omitempty"   also:"match"                 jsonschema:"all by default."                                       usage:"Whether all of the tags are needed, which is the default, or any."                        enum:"all,any"`
	Kind         string   `json:"kind,omitempty"         also:"type"                                                                                     usage:"Only memories of this kind."                                                              enum:"kind"`
	RelatedFile  string   `json:"related_file,omitempty" also:"file,path"             jsonschema:"Path as remembered."                                   usage:"Only memories about this file."`
	MaxResults   *int     `json:"max_results,omitempty"  also:"limit,top_k,k,n,count" jsonschema:"5 by default."                                         usage:"Most memories to return, 5 by default, at most 1000."`
	MaxTokens    *int     `json:"max_tokens,omitempty"   also:"token_budget,budget"   jsonschema:"2000 by default."                                      usage:"Maximum tokens of the whole answer, 2000 by default."`
}

func recallMemory(ctx context.Context, w *Workspace, in recallMemoryIn, terms []oxbow.Term) (RecallOut, error) {
	where, err := in.makeFilter(w.CurrentTime())
	if err != nil {
		return RecallOut{}, err
	}
	hasSelection := !where.IsZero() || in.Kind != "" || in.Project != ""
	if !hasSelection && strings.TrimSpace(in.Query) == "" {
		return RecallOut{}, InvalidValue(
			"query",
			"",
			"is empty, and so is all else; give one of query, date, date_range, project, tags, kind and related_file",
		)
	}
	hasDate := in.Date != "" || len(in.DateRange) > 0
	hasQueryOrKind := in.Query != "" || in.Kind != ""
	if hasDate && !hasQueryOrKind {
		where = where.And(oxbow.Filter{Terms: terms})
	}
	out, err := Recall(ctx, w, RecallIn{
		Query:             in.Query,
		EntrySelection:    EntrySelection{Project: in.Project, Kind: in.Kind},
		Limit:             in.MaxResults,
		MaxTokens:         in.MaxTokens,
		callingVerbFilter: where,
	})
	for _, notes := range [][]Note{out.Notes, out.EmptyReasons} {
		for i, n := range notes {
			notes[i] = n.renameParam("limit", "max_results")
		}
	}
	return out, err
}

// makeFilter returns a filter for entries that match the dates, the tags and the related file in the receiver in. The
// argument now is the time from which relative dates are counted. makeFilter returns an error if a date, a tag or the
// file is invalid.
func (in *recallMemoryIn) makeFilter(now time.Time) (oxbow.Filter, error) {
	var f oxbow.Filter
	if in.Date != "" {
		day, err := TimeFilter("date", "on", in.Date, now)
		if err != nil {
			return f, err
		}
		f = f.And(day)
	}
	if len(in.DateRange) > 0 {
		span, err := dateRangeFilter(in.DateRange, now)
		if err != nil {
			return f, err
		}
		f = f.And(span)
	}
	var tags []oxbow.Term
	for _, t := range oxbow.SplitTags(in.Tags...) {
		if err := (oxbow.Label{Key: oxbow.LabelTag, Value: t}).Check(); err != nil {
			return f, err
		}
		if in.TagMatchMode == "any" && len(tags) > 0 {
			tags[0].Values = append(tags[0].Values, t)
			continue
		}
		tags = append(tags, oxbow.Term{Key: oxbow.LabelTag, Values: []string{t}})
	}
	f.Terms = append(f.Terms, tags...)
	if in.RelatedFile != "" {
		if err := (oxbow.Label{Key: oxbow.LabelFile, Value: in.RelatedFile}).Check(); err != nil {
			return f, err
		}
		f.Terms = append(f.Terms, oxbow.Term{Key: oxbow.LabelFile, Values: []string{in.RelatedFile}})
	}
	return f, nil
}

// openRangeEnd stands for a missing first or last date of a range. It cannot be "", because an empty string in a list
// means that the value is absent.
const openRangeEnd = ".."

// dateRangeFilter returns a filter for the days from days[0] to days[1], including both. If one of them is
// openRangeEnd, the range is open at this end. The argument now is the current time, for relative dates.
// dateRangeFilter returns an error if days does not contain exactly two valid dates, or if the range ends before it
// begins.
func dateRangeFilter(days []string, now time.Time) (oxbow.Filter, error) {
	var f oxbow.Filter
	if len(days) != 2 {
		return f, InvalidValue(
			"date_range",
			strings.Join(days, ", "),
			fmt.Sprintf(
				`has %s; give the first and the last, .. for an open side`,
				text.FormatCount(len(days), "date", "dates"),
			),
		)
	}
	for i, s := range days {
		if s == openRangeEnd {
			continue
		}
		day, err := TimeFilter("date_range", "on", s, now)
		if err != nil {
			return f, err
		}
		if i == 0 {
			f.After = day.After
		} else {
			f.Before = day.Before
		}
	}
	hasBothEnds := !f.After.IsZero() && !f.Before.IsZero()
	if hasBothEnds && !f.After.Before(f.Before) {
		return f, InvalidValue("date_range", strings.Join(days, ", "), "ends before it begins")
	}
	return f, nil
}
