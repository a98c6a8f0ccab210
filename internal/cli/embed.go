// This file implements the command "oxbow embed".

package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func embedCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "embed",
		Short: "Compute missing vectors of entries, with your own model",
		Long: `Embed sends the text of each entry without a vector to an endpoint with the API
of OpenAI (POST /v1/embeddings; Ollama, llama.cpp and vLLM have it), and stores
the vectors next to the memory. With the same --embed and --embed-model, recall
and mcp rank by words and by vectors. A recall waits at most two seconds for
the endpoint, and then ranks by words only. Instead of the flags, you can set
OXBOW_EMBED and OXBOW_EMBED_MODEL. OXBOW_EMBED_KEY contains the key.

oxbow sends nothing unless you name an endpoint.`,
		Example: `  oxbow embed --dry-run --embed http://127.0.0.1:11434 --embed-model bge-m3`,
	}, maintenance.EmbedEntries, setPositionalArgs)
}
