// This file tests that the list of tools, which every client reads first, is short.

package mcpserver

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/annotations"
	"github.com/oxbow-memory/oxbow/internal/verb/profiles"
)

// Maximum sizes of the list of tools: maxCore and maxCoreBytes apply to the core tools, and maxFull and maxFullBytes
// apply to all tools. A client sends the list to the model with each turn of a conversation, so measure the effect
// before raising a limit.
//
// maxCore and maxFull are numbers of estimated tokens in the parts that a model reads. These parts are the names,
// descriptions and parameter schemas. For JSON, the estimate is about 50 % too high. Real tokenizers count about 1,000
// tokens for the core tools, and the limit in TestToolList in test/bench is 1,100.
//
// maxCoreByBytes is a maximum number of tokens of the core tools, computed with four bytes per token. maxCoreBytes and
// maxFullBytes also include titles and hints, which models do not read.
const (
	maxCore, maxCoreBytes = 1500, 8_000
	maxFull, maxFullBytes = 4100, 19_000

	maxCoreByBytes = 1100
)

func TestToolListIsShort(t *testing.T) {
	for _, tt := range []struct {
		sets          verb.VerbSets
		n, most, sent int
	}{
		{verb.VerbSets{verb.VerbSetCore}, 6, maxCore, maxCoreBytes},
		{verb.VerbSets{verb.VerbSetFull}, 15, maxFull, maxFullBytes},
	} {
		workspace := harborWorkspace(nil)
		workspace.Annotations = func(context.Context) (verb.WorkingTree, error) { return nil, oxbow.ErrUnsupported }
		cs := overMemory(
			t,
			New(
				workspace,
				&Options{
					ToolSets:          tt.sets,
					WorkingTreeTools:  annotations.AnnotationTools(),
					UnrestrictedTools: profiles.SubAgentTools(nil),
					Profiles:          harborProfiles(t),
				},
			),
			"",
		)
		list, err := cs.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		encode := func(v any) string {
			b, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		read := ""
		for _, tl := range list.Tools {
			read += encode(mcp.Tool{Name: tl.Name, Description: tl.Description, InputSchema: tl.InputSchema})
		}
		estimate := prompt.EstimateTokens(read)
		bytes := len(read) / 4
		sent := len(encode(list.Tools))
		t.Logf(
			"%v: %d tools, %d bytes, of which a model reads %d tokens by estimate, %d by bytes",
			tt.sets,
			len(list.Tools),
			sent,
			estimate,
			bytes,
		)
		if tt.n == 6 && bytes > maxCoreByBytes {
			t.Errorf("%v: a model reads some %d tokens, want at most %d", tt.sets, bytes, maxCoreByBytes)
		}
		if len(list.Tools) != tt.n || max(estimate, bytes) > tt.most || sent > tt.sent {
			t.Errorf("%v: %d tools, %d bytes, of which a model reads %d tokens (by bytes %d); want %d, %d and %d",
				tt.sets, len(list.Tools), sent, estimate, bytes, tt.n, tt.sent, tt.most)
		}
	}
}
