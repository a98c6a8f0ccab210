// This file tests a server's instructions in homes with files of many sizes, in every layout.

package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// contextFiles contains one row for each layout, which is a format of a memory's files. The field large names a file
// that may be large. The field small names a small file that must be shown in full ("" if there is none). The field own
// is a part of the text that the layout itself adds.
var contextFiles = []struct{ layout, large, small, own string }{
	{"entryfiles", "memory/MEMORY.md", "Crab.md", "remember"},
	{"crabtalk", "home/Crab.md", "Crab.md", "Your instructions are not part of this memory."},
	{"duragent", ".duragent/directives/large.md", ".duragent/directives/small.md", "not instructions to follow"},
	{"clawft", ".clawft/workspace/memory/MEMORY.md", "", "## Memory"},
	{"coderhapsody", "MEMORY.md", "SOUL.md", "data and not instructions"},
}

// clientLimits contains for each MCP client how many characters of a server's instructions the client shows to its
// model. Codex shows the first paragraph immediately, and shows the whole text later, together with search results.
// Copilot shows nothing by default.
var clientLimits = map[string]int{
	"claude-code": 4096, "codex-mcp-client": 16 << 10, "gemini-cli-mcp-client": 16 << 10,
	"opencode": 16 << 10, "github-copilot-developer": 16 << 10, "qwen-code": 16 << 10,
}

func TestInstructionsOfLargeFiles(t *testing.T) {
	t.Parallel()
	const identity = "I am the keeper of the small file."
	for _, tt := range contextFiles {
		for _, shape := range []struct{ name, sep string }{{"paragraphs", "\n\n"}, {"lines", "\n"}, {"words", " "}} {
			for _, kib := range []int{1, 15, 16, 17, 64, 512} {
				isLarge := kib == 512 && shape.name != "paragraphs" && !testenv.IsLongTestRun()
				if isLarge || (testing.Short() && kib != 17) {
					continue
				}
				w := newWorld(t)
				w.must(t, "init", "--dialect", tt.layout, "--home", "home")
				w.vars["OXBOW_HOME"] = w.dir + "/home"
				w.write(t, largePath(tt.layout, tt.large), facts(kib<<10, shape.sep))
				if tt.small != "" {
					w.write(t, largePath(tt.layout, tt.small), identity)
				}
				for client, limit := range clientLimits {
					hasOwnLimit := client == "claude-code" || client == "qwen-code"
					if !hasOwnLimit && (kib != 17 || shape.sep != "\n\n") {
						continue // This client has the same limit as qwen-code.
					}
					doors := map[string]*mcp.ClientSession{"stdio": w.openStdioAs(t, client)}
					if shape.sep == "\n\n" {
						doors["http"] = w.openHTTPAs(t, client)
					}
					for door, cs := range doors {
						got := cs.InitializeResult().Instructions
						name := fmt.Sprintf("%s, %d KiB of %s, %s over %s", tt.layout, kib, shape.name, client, door)
						isCut := strings.Contains(got, "(Cut to fit: ")
						switch {
						case len([]rune(got)) > limit:
							t.Errorf("%s: %d characters, want at most %d", name, len([]rune(got)), limit)
						case !strings.Contains(got, tt.own):
							t.Errorf("%s: the layout's own text is not there: %.200q", name, got)
						case tt.small != "" && !strings.Contains(got, identity):
							t.Errorf("%s: the small file is not there", name)
						case !strings.Contains(got, "Fact"):
							t.Errorf("%s: nothing of the large file is there", name)
						case kib == 1 && isCut, kib > 16 && !isCut, isCut && !strings.Contains(got, "memory://context"):
							t.Errorf("%s: cut = %v, or the rest is not named", name, isCut)
						case isCut && len(got) < limit/2 && shape.name != "words":
							t.Errorf("%s: %d characters of %d are used", name, len(got), limit)
						}
						if isCut {
							all, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "memory://context"})
							if err != nil || (len(all.Contents[0].Text) < kib<<10 && tt.layout != "coderhapsody") {
								t.Errorf("%s: the context as a resource is not whole: %v", name, err)
							}
						}
					}
				}
			}
		}
	}
}

// largePath returns the path of the file name of a layout, relative to the test's directory. Names of files are
// relative to the directory home. Only for crabtalk, name is already relative to the test's directory, because the
// small file Crab.md is outside of home.
func largePath(layout, name string) string {
	if layout == "crabtalk" {
		return name
	}
	return "home/" + name
}

// facts returns a text of about size bytes that consists of numbered facts.
func facts(size int, sep string) string {
	var b strings.Builder
	for n := 0; b.Len() < size; n++ {
		fmt.Fprintf(&b, "Fact %d: the server is in a rack.%s", n, sep)
	}
	return b.String()[:size]
}
