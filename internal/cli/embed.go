// This file implements the command "oxbow embed".

package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func embedCommand(mem *openMemory) *cobra.Command {
	return setUpReport(mem, &cobra.Command{
		Use:   "embed",
		Short: "Make the vectors of entries that have none, at an endpoint of yours",
		Long: `Embed sends the text of each entry that has no vector yet to an endpoint like
OpenAI's (POST /v1/embeddings; Ollama, llama.cpp and vLLM have it), and keeps
the vectors next to the memory. With the same --embed and --embed-model, recall
and mcp rank by words and by vectors; a recall waits at most two seconds, and
without an answer ranks by words. OXBOW_EMBED, OXBOW_EMBED_MODEL and
OXBOW_EMBED_KEY stand for the flags and for the key.

Nothing is ever sent unless you name an endpoint.`,
		Example: `  oxbow embed --dry-run --embed http://127.0.0.1:11434 --embed-model bge-m3`,
	}, maintenance.Embed, positional)
}
