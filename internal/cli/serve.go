// This file implements the commands "oxbow serve" and "oxbow ui". The first serves all interfaces of a memory over
// HTTP. The second shows the pages in a browser.

package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/share/auth/oidc"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// defaultAddr is the address at which oxbow serve listens by default.
const defaultAddr = "127.0.0.1:8333"

// serveIn contains the flags of oxbow serve.
type serveIn struct {
	Addr          string   `json:"http,omitempty"       value:"ADDR" usage:"serve on this ADDR (default 127.0.0.1:8333); port 0 means any free port"`
	TokenFile     string   `json:"token_file,omitempty" value:"FILE" usage:"the FILE with the token, which is created if it is missing (default HOME/token, or a file in your configuration directory if the home is in a repository)"`
	TokenListFile string   `json:"tokens,omitempty"     value:"FILE" usage:"a FILE that lists several tokens and the rights of each, instead of one token; oxbow mcp --help shows an example"`
	ReadOnly      bool     `json:"ro,omitempty"                      usage:"clients can only read"`
	Projects      []string `json:"project,omitempty"                 usage:"clients see and write only entries of this PROJECT; auto is the project of the working directory"                                                          empty:"allowed"`
	VisibleKinds  []string `json:"kind,omitempty"                    usage:"clients see and write only entries of this KIND"                                                                                                           empty:"allowed"`

	PublicURL      string `json:"public_url,omitempty"    value:"URL"   usage:"the https URL by which other machines call this server, such as the URL of a proxy"`
	ListenAll      bool   `json:"listen_all,omitempty"                  usage:"accept connections from other machines at the address of --http; needs --public-url, and TLS here or in a proxy"`
	TLSCert        string `json:"tls_cert,omitempty"      value:"FILE"  usage:"use TLS with the certificates in this FILE"`
	TLSKey         string `json:"tls_key,omitempty"       value:"FILE"  usage:"the key of the certificates, in this FILE"`
	Issuer         string `json:"oidc_issuer,omitempty"   value:"URL"   usage:"accept tokens of this OpenID provider; needs --public-url"`
	Audience       string `json:"oidc_audience,omitempty" value:"NAME"  usage:"the audience of the provider's tokens (default the public URL, or the public URL and /mcp)"`
	TenantClaim    string `json:"oidc_tenant,omitempty"   value:"CLAIM" usage:"the CLAIM of a token that names the tenant; without this flag, tokens are for the server's own home"`
	MaxOpenTenants *int   `json:"open,omitempty"          value:"N"     usage:"maximum number of tenants' memories that are open at once (default 64)"`
}

func (in serveIn) serverFlags() serverFlags {
	s := serverFlags{OIDC: oidc.Options{Issuer: in.Issuer, Audience: in.Audience, TenantClaim: in.TenantClaim},
		Public: publicFlags{in.ListenAll, in.TLSCert, in.TLSKey, in.PublicURL},
		Addr:   in.Addr, TokenFile: in.TokenFile, TokenListFile: in.TokenListFile, ReadOnly: in.ReadOnly,
		Projects: in.Projects, VisibleKinds: in.VisibleKinds}
	if in.MaxOpenTenants != nil {
		s.MaxOpenTenants = max(1, *in.MaxOpenTenants)
	}
	return s
}

func serveCommand(mem *lazyMemory) *cobra.Command {
	return mem.setUpServeCommand(&cobra.Command{
		Use:   "serve",
		Short: "Serve the memory over HTTP: pages, API, agents",
		Long: `Serve offers the memory on this machine to browsers at /ui/, to agents at /mcp
(Model Context Protocol), and to programs at /api/v1, which /openapi.json
describes. Every request of a program must contain the token. A browser signs
in with the printed link, or with a token whose rights then apply.

With --tokens, a token with tenant=NAME gives access only to the memory of this
tenant. This is a separate home, tenants/NAME below the server's home, which
the server opens when it is needed and closes when it is idle. A line can limit
the size of a tenant's memory, and its changes per second:

  ops          kE0v1sVQxqB8oVbW2mZt5w  rw  tenant=acme
  tenant=acme  entries=100000 bytes=500MB writes=50

/healthz answers ok to everybody. /metrics counts requests, for Prometheus. It
needs a token with only=metrics, or a token that sees the whole home of the
server.

With --oidc-issuer, the server also accepts tokens of an OpenID provider. They
must be signed by RS256, ES256 or EdDSA, be issued for this server, and have
the scope oxbow:read or oxbow:write.

The server accepts connections only from this machine. For another machine, use
a tunnel (ssh -L 8333:127.0.0.1:8333 HOST), or a proxy that speaks TLS, whose
URL you name with --public-url. You can also use --listen-all with certificates
of your own.`,
		Example: `  oxbow serve
  oxbow serve --http :0 --tokens ~/.oxbow-tokens
  oxbow serve --home /srv/oxbow --tokens /srv/oxbow/tokens
  oxbow serve --ro --project harbor
  oxbow serve --public-url https://memory.example.org`,
	})
}

// setUpServeCommand makes c the command serve, which starts a server. The server offers the web pages, the HTTP API,
// and the MCP endpoint for agents.
func (mem *lazyMemory) setUpServeCommand(c *cobra.Command) *cobra.Command {
	c.Args = requireArgCount(0, 0, "nothing")
	return setUpFlagsAndArgs(c, func(ctx context.Context, in serveIn, _ []string) error {
		if in.TokenFile != "" && in.TokenListFile != "" {
			return usageErrorf(
				"give that token a line in the file of --tokens",
				"--token-file and --tokens are both given",
			)
		}
		flags := in.serverFlags()
		if flags.Addr == "" {
			flags.Addr = defaultAddr
		}
		return mem.serveAllInterfaces(ctx, flags, func(at runningServer, t *tenantHomeManager) error {
			links, err := t.signInLinks(at)
			if err != nil {
				return err
			}
			fmt.Fprintf(
				mem.env.Stderr,
				"%s: serving\n%s  API     %s/api/v1, described by %s/openapi.json\n  agents  %s/mcp\n",
				mem.env.programName,
				links,
				at.url,
				at.url,
				at.url,
			)
			mem.env.printTokenInfo(at)
			return nil
		})
	})
}

// uiIn contains the flags of oxbow ui.
type uiIn struct {
	Addr      string   `json:"http,omitempty"    value:"ADDR" usage:"serve on this ADDR, such as 127.0.0.1:8334 (default a free port of this machine)"`
	NoBrowser bool     `json:"no_open,omitempty"              usage:"print the link, and do not open a browser"`
	ReadOnly  bool     `json:"ro,omitempty"                   usage:"do not allow changes in the pages"`
	Projects  []string `json:"project,omitempty"              usage:"only entries of this PROJECT; auto is the project of the working directory"       empty:"allowed"`
	Kinds     []string `json:"kind,omitempty"                 usage:"only entries of this KIND"                                                        empty:"allowed"`
}

func uiCommand(mem *lazyMemory) *cobra.Command {
	return setUpFlagsAndArgs(&cobra.Command{
		Use:   "ui [NAME]",
		Short: "See and correct the memory, or one entry, in a browser",
		Long: `Ui serves the pages of the memory on this machine and opens them in your
browser. With NAME, it begins at the page of this entry. The printed link works
once, within ten minutes. Ctrl-C stops the server.`,
		Example: `  oxbow ui
  oxbow ui deploy
  oxbow ui --no-open --http 127.0.0.1:8334
  oxbow ui --ro --project harbor`,
		Args: requireArgCount(0, 1, "the NAME of an entry, or nothing"),
	}, mem.servePages)
}

// openCommand returns the command "oxbow open NAME", which is the old name of "oxbow ui NAME". The help does not list
// it.
func openCommand(mem *lazyMemory) *cobra.Command {
	return setUpFlagsAndArgs(&cobra.Command{
		Use:     "open NAME",
		Short:   "See one entry in a browser",
		Long:    `Open is the old name of oxbow ui NAME.`,
		Example: `  oxbow ui deploy`,
		Args:    requireArgCount(1, 1, "the NAME of an entry"),
		Hidden:  true,
	}, mem.servePages)
}

// servePages starts the server for the pages of the web interface. If the list args is empty, the browser opens the
// first page. Otherwise args[0] is the name of an entry, and the browser opens the page of this entry.
func (mem *lazyMemory) servePages(ctx context.Context, in uiIn, args []string) error {
	if len(args) == 0 {
		return mem.servePagesAt(ctx, in, "")
	}
	// If no entry has this name, the call fails before the server starts.
	e, err := callVerb(ctx, mem, verb.Get, verb.GetIn{Name: args[0]})
	if err != nil {
		return err
	}
	return mem.servePagesAt(ctx, in, page.EntryPath(e.Name))
}

// servePagesAt serves the web pages. It prints a link to path, which is below [page.RootPath], and opens the link in a
// browser. It opens no browser if NoBrowser is set or if standard output is not a terminal.
func (mem *lazyMemory) servePagesAt(ctx context.Context, in uiIn, path string) error {
	flags := serverFlags{Addr: in.Addr, ReadOnly: in.ReadOnly, Projects: in.Projects, VisibleKinds: in.Kinds}
	if flags.Addr == "" {
		flags.Addr = "127.0.0.1:0"
	}
	remove := func() {}
	defer func() { remove() }()
	return mem.serveAllInterfaces(ctx, flags, func(at runningServer, t *tenantHomeManager) error {
		link, err := mem.newSignInLink(t.sessionsByTenant[""], path)
		if err != nil {
			return err
		}
		mem.env.printf("%s\n", at.url+link)
		canBrowse := mem.env.OpenBrowser != nil && mem.env.IsStdoutTerminal
		if in.NoBrowser || !canBrowse {
			return nil
		}
		remove, err = mem.env.openPrivateLink(at.url + link)
		if err != nil {
			mem.env.printWarning("%v; open the link above", err)
		}
		return nil
	})
}

// serveAllInterfaces serves the pages, the HTTP API and the server for agents until ctx ends.
func (mem *lazyMemory) serveAllInterfaces(
	ctx context.Context,
	flags serverFlags,
	onListening func(runningServer, *tenantHomeManager) error,
) (err error) {
	if err := mem.prepareDaemonHome(); err != nil {
		return err
	}
	at, err := mem.configureServer(flags)
	if err != nil {
		return err
	}
	// Make the project names complete, because a server of several tenants lacks a working directory that could name
	// the project.
	for i, p := range flags.Projects {
		flags.Projects[i], err = mem.env.resolveProject(p)
		if err != nil {
			return err
		}
	}
	described, err := at.acceptOpenIDProviderTokens(flags.OIDC, mem.env.Now, mem.env.newServerLogger())
	if err != nil {
		return err
	}
	stop, err := mem.startDaemonStorage(ctx, &at)
	if err == nil {
		err = errors.Join(mem.serveTenants(ctx, mem.newTenants(flags, at), described, onListening), stop())
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil // The server was told to end, so this is not a failure.
	}
	return err
}

// serveTenants serves the home of each tenant and the server's own home.
func (mem *lazyMemory) serveTenants(
	ctx context.Context,
	t *tenantHomeManager,
	metadataHandler http.Handler,
	onListening func(runningServer, *tenantHomeManager) error,
) error {
	handler, err := t.newHandler(ctx, metadataHandler)
	if err != nil {
		return err
	}
	err = mem.serveHTTP(ctx, t.server, handler, func(at runningServer) error { return onListening(at, t) })
	return errors.Join(err, t.close())
}
