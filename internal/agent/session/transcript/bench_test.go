// This file measures how fast transcripts are read. The results are megabytes per second on one core.

package transcript_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
)

func BenchmarkReader(b *testing.B) {
	for _, c := range []string{"claude", "codex", "gemini", "copilot", "qwen"} {
		b.Run(c, func(b *testing.B) {
			one, err := os.ReadFile("../../../hook/testdata/" + c + "-work/transcript.0.jsonl")
			if err != nil {
				b.Fatal(err)
			}
			path := filepath.Join(b.TempDir(), "transcript.jsonl")
			if err := os.WriteFile(path, bytes.Repeat(one, 16<<20/len(one)), 0o600); err != nil {
				b.Fatal(err)
			}
			read := transcript.NewReader(strings.TrimSpace, nil)
			b.SetBytes(16 << 20)
			for b.Loop() {
				for at, before := "", "none"; at != before; {
					before = at
					_, at, err = read(b.Context(), c, path, at)
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
