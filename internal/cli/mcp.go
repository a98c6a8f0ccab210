// This file implements the command "oxbow mcp", the server for agents.

package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

func mcpCommand(mem *lazyMemory) *cobra.Command {
	return setUpFlagsAndArgs(&cobra.Command{
		Use:   "mcp",
		Short: "Serve the memory to agents (Model Context Protocol)",
		Long: `Mcp serves the memory to one client over standard input and output or, with
--http, to any number of clients over HTTP. Over HTTP, it accepts connections
only from this machine, with the token. To connect another machine, use a
tunnel (ssh -L).

Over standard input and output, the server starts even if the memory cannot be
used, so that the client starts as well. Each answer then gives the reason and
a way to repair the problem.

With --profile, or OXBOW_PROFILE, clients see only what the profile includes.
Over HTTP, /mcp/p/NAME serves a single profile. --ro, --project and --kind set
further limits. A file of --tokens gives each client its own rights. Each line
has a name, a secret, ro or rw, and limits:

  ci   kE0v1sVQxqB8oVbW2mZt5w  ro  project=harbor kind=note
  vtt  sha256:9f86d081884c...  rw  profile=vtt-developer

The list of tools takes tokens of each session, so it is short by default:
core, and profiles if the home has some. --tools core,code chooses other sets:

` + toolSetsHelp(),
		Example: `  claude mcp add -s user oxbow -- oxbow mcp
  claude mcp add -s user vtt -- oxbow mcp --profile vtt-developer
  oxbow mcp --ro --project harbor
  oxbow mcp --http 127.0.0.1:8333
  oxbow mcp --http :0 --tokens ~/.oxbow-tokens`,
	}, func(ctx context.Context, s serverFlags, _ []string) error {
		switch {
		case s.Addr == "" && s.TokenFile != "":
			return usageErrorf("add --http ADDR", "--token-file means something with --http only")
		case s.Addr == "" && s.TokenListFile != "":
			return usageErrorf("add --http ADDR", "--tokens means something with --http only")
		case s.TokenFile != "" && s.TokenListFile != "":
			return usageErrorf(
				"give that token a line in the file of --tokens",
				"--token-file and --tokens are both given",
			)
		case s.ReadOnly && s.ReadWrite:
			return usageErrorf("leave one of them out", "--ro and --rw are both given")
		}
		return mem.serveMCP(ctx, s)
	})
}

// toolSetsHelp returns the list of tool sets for the help text.
func toolSetsHelp() string {
	var b strings.Builder
	for _, s := range verb.AllVerbSets() {
		fmt.Fprintf(&b, "  %-9s %s\n", s.Name, strings.Join(s.Verbs, " "))
	}
	return b.String() + "  full      all of these\n  all       all of these, and the tools of the home's own layout"
}

func entryKindNames() []string {
	var names []string
	for _, k := range oxbow.Kinds() {
		names = append(names, k.String())
	}
	return names
}

func (mem *lazyMemory) serveMCP(ctx context.Context, flags serverFlags) (err error) {
	s, done, err := mem.buildService(ctx, flags)
	hasNoMemory := err != nil && isNotUsageError(err)
	if hasNoMemory && flags.Addr == "" {
		mem.env.printWarning("there is no memory to serve, and each answer says so: %v", err)
		s = mem.newServiceWithoutMemory(err)
		done = func() error { return nil }
		err = nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if flags.Addr == "" {
		if mem.env.IsStdinTerminal {
			mem.env.printNote(
				"this serves agents over standard input and output, and waits for a client's messages; Ctrl-C ends "+
					"it. A client starts it by itself: claude mcp add -s user oxbow -- oxbow%s mcp",
				mem.finder.homeFlagForClients(),
			)
		}
		defer mem.env.delayExit()()
		err = s.mcpServer.ServeStdio(ctx, mem.env.Stdin, mem.env.Stdout)
	} else {
		var at runningServer
		at, err = mem.configureServer(flags)
		if err != nil {
			return err
		}
		err = checkTokens(s.mcpServer, at.guard.Tokens, at.tokenFile)
		if err != nil {
			return err
		}
		if len(at.guard.Tokens.TenantNames()) > 0 {
			return usageErrorf("oxbow serve serves them: oxbow serve --tokens "+
				shellQuote(flags.TokenListFile), "%s has tokens of tenants", at.tokenFile)
		}
		err = mem.serveHTTP(ctx, at, mcpHandler(s, at.guard.ForTenant("")), func(at runningServer) error {
			fmt.Fprintf(mem.env.Stderr, "oxbow: serving %s/mcp\n", at.url)
			mem.env.printTokenInfo(at)
			return nil
		})
	}
	if ctx.Err() != nil {
		return nil // The server was told to end, so this is not a failure.
	}
	return err
}

// mcpHandler returns the handler for MCP over HTTP. It has one path for the memory and one for each profile.
func mcpHandler(s *memoryService, g auth.RequestGuard) http.Handler {
	mux, door := http.NewServeMux(), s.mcpServer.Handler(g)
	mux.Handle("/mcp", door)
	mux.Handle("/mcp/p/{profile}", door)
	return mux
}
