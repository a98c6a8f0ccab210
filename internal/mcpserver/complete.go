// This file completes the names of entries, handoffs and profiles, and label values. It suggests only names and values
// that the client may see.

package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/handoff"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// completeRequest answers a completion request. Values that begin with the typed text come first, followed by values
// that contain it. Names are ordered by time, newest first. Label values are ordered by their number of entries,
// highest first.
func (d *serverTransport) completeRequest(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	values, err := d.completeArgument(ctx, req.Params)
	if err != nil {
		return nil, errors.New(d.explainError(err))
	}
	res := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}
	res.Completion.Total = len(values)
	res.Completion.HasMore = len(values) > maxCompletionValues
	res.Completion.Values = append(res.Completion.Values, values[:min(len(values), maxCompletionValues)]...)
	return res, nil
}

// completeArgument returns the completions for an argument, best first. The result may be longer than the protocol
// allows.
func (d *serverTransport) completeArgument(ctx context.Context, p *mcp.CompleteParams) ([]string, error) {
	if p.Ref == nil || !d.hasMemory() {
		return nil, nil
	}
	typed := p.Argument.Value
	switch at := strings.TrimPrefix(p.Ref.Name, fallbackNamePrefix) + "." + p.Argument.Name; {
	case p.Ref.Type == "ref/resource" && p.Ref.URI == entryURITemplate && p.Argument.Name == "name":
		es, err := d.Workspace.NewestEntries(ctx, math.MaxInt32)
		var names []string
		for _, e := range es {
			names = append(append(names, e.Name), e.Aliases...)
		}
		return matchingValues(names, typed), err
	case p.Ref.Type != "ref/prompt":
		return nil, nil
	case at == "context."+argProject, at == "handoff."+argProject:
		labels, err := d.labelValues(ctx, oxbow.LabelProject, "")
		return matchingValues(labels, typed), err
	case at == "context."+argTags:
		return d.completeTags(ctx, p)
	case at == "handoff."+argName:
		names, err := d.handoffNames(ctx)
		return matchingValues(names, typed), err
	case at == "profile."+argName && d.Workspace.Profiles != nil:
		return d.profileNames(typed)
	}
	return nil, nil
}

// matchingValues returns the values that begin with typedText, followed by the values that contain it elsewhere. Both
// groups keep their order. Letter case is ignored.
func matchingValues(values []string, typedText string) []string {
	typedText = strings.ToLower(typedText)
	var begin, hold []string
	for _, v := range values {
		switch low := strings.ToLower(v); {
		case strings.HasPrefix(low, typedText):
			begin = append(begin, v)
		case strings.Contains(low, typedText):
			hold = append(hold, v)
		}
	}
	return append(begin, hold...)
}

// labelValues returns a label key's values, ordered by their number of entries, highest first. If project is not "",
// it counts only entries of this project.
func (d *serverTransport) labelValues(ctx context.Context, key, project string) ([]string, error) {
	es, err := d.Workspace.NewestEntries(ctx, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	count := map[string]int{}
	for _, e := range es {
		if project != "" && !slices.Contains(e.Values(oxbow.LabelProject), project) {
			continue
		}
		for _, v := range e.Values(key) {
			count[v]++
		}
	}
	return slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a, b))
	}), nil
}

// completeTags completes the last tag in a comma-separated list. Each result consists of the list's earlier tags,
// joined by ", ", and one possible last tag. Tags that are already in the list are not suggested again.
func (d *serverTransport) completeTags(ctx context.Context, p *mcp.CompleteParams) ([]string, error) {
	project := ""
	if p.Context != nil {
		project = p.Context.Arguments[argProject]
	}
	tags, err := d.labelValues(ctx, oxbow.LabelTag, project)
	if err != nil {
		return nil, err
	}
	i := strings.LastIndexByte(p.Argument.Value, ',') + 1
	before, last := p.Argument.Value[:i], strings.TrimSpace(p.Argument.Value[i:])
	given := splitTags(before)
	if len(given) > 0 {
		before = strings.Join(given, ", ") + ", "
	}
	tags = slices.DeleteFunc(matchingValues(tags, last), func(t string) bool { return slices.Contains(given, t) })
	for i := range tags {
		tags[i] = before + tags[i]
	}
	return tags, nil
}

// handoffNames returns the names of all handoffs: first the open ones, then the taken ones, each newest first.
func (d *serverTransport) handoffNames(ctx context.Context) ([]string, error) {
	m, err := d.Workspace.Open(ctx, verb.Read)
	if err != nil {
		return nil, err
	}
	hs, err := handoff.ListAll(ctx, m, nil)
	var names []string
	for _, taken := range []bool{false, true} {
		for _, h := range hs {
			if h.IsTakenBySession == taken {
				names = append(names, h.Name)
			}
		}
	}
	return names, err
}

// profileNames returns the names of profiles that match the text typedText, if the client may see these profiles. Some
// profiles must be read to check this. Therefore profileNames stops when it has found enough names.
func (d *serverTransport) profileNames(typedText string) ([]string, error) {
	all, err := d.serverOptions.Profiles.Names()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, n := range matchingValues(all, typedText) {
		if d.MaySeeProfile(n) {
			names = append(names, n)
		}
		if len(names) > maxCompletionValues {
			break
		}
	}
	return names, nil
}
