// This file signs browsers in, with a link or a token, and signs them out.

package web

import (
	"net/http"
	"strings"
	"time"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// tokenActor is the actor of a browser that signed in with a token. Programs have tokens as well, so that such a
// browser must not get more rights than a program.
const tokenActor = oxbow.Agent

// browserAuthenticator signs browsers in and out.
type browserAuthenticator struct {
	*Server
	guard auth.RequestGuard
}

func (d browserAuthenticator) sendPage(w http.ResponseWriter, p page.PageWithoutNavigation) {
	p.Send(w, d.assets)
}

// redirectToSignIn handles a request by a browser that is not signed in. A GET request is redirected to the page for
// signing in. For any other request, such as a submitted form, redirectToSignIn shows the page for signing in together
// with the text that the user had entered into the form.
func (d browserAuthenticator) redirectToSignIn(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		http.Redirect(w, r, page.RootPath+"enter", http.StatusSeeOther)
		return
	}
	door := signInPage(
		"Your session has ended. Sign in, go back, and send the form again.",
		http.StatusUnauthorized,
	)
	door.Body = append(door.Body, typedTextSection(r))
	d.sendPage(w, door)
}

// signInByKey signs a browser in with the key in a link. Then it answers with a page that opens the memory. It does not
// answer with a redirect status, because the browser would follow the redirect without the new cookie (see
// signedInPage). Without a key, it shows the page for signing in with a token.
func (d browserAuthenticator) signInByKey(w http.ResponseWriter, r *http.Request) {
	key := r.URL.Query().Get("key")
	if key == "" {
		d.sendPage(w, signInPage("", http.StatusOK))
		return
	}
	cookie, ok, err := d.sessions.startSession(key)
	switch {
	case err != nil:
		http.Error(w, "making a session: "+err.Error(), http.StatusInternalServerError)
	case !ok && d.sessions.findVisitor(r) != nil: // the sign-in link was opened a second time in the same browser
		d.sendPage(w, signedInPage(pathOnThisServer(r.URL.Query().Get("to"))))
	case !ok:
		d.sendPage(
			w,
			signInPage(
				"This link has already been used, or is older than ten minutes. Run oxbow ui to get a new link.",
				http.StatusUnauthorized,
			),
		)
	default:
		d.setCookie(w, r, cookie, sessionLifetime)
		d.sendPage(w, signedInPage(pathOnThisServer(r.URL.Query().Get("to"))))
	}
}

// signIn signs a browser in with a token.
func (d browserAuthenticator) signIn(w http.ResponseWriter, r *http.Request) {
	token, ok := d.guard.Tokens.FindBySecret(strings.TrimSpace(r.PostFormValue("token")))
	if !ok {
		d.sendPage(w, signInPage("This server does not know that token.", http.StatusUnauthorized))
		return
	}
	_, err := d.viewOptions.MakeView(token, "")
	var cookie string
	if err == nil {
		cookie, err = d.sessions.addVisitor(
			&d.sessions.signedInVisitorByCookie,
			browserVisitor{token: token, actor: tokenActor},
			sessionLifetime,
		)
	}
	if err != nil {
		d.sendPage(w, signInPage(err.Error(), http.StatusForbidden))
		return
	}
	d.setCookie(w, r, cookie, sessionLifetime)
	http.Redirect(w, r, page.RootPath, http.StatusSeeOther)
}

// signOut signs a browser out.
func (d browserAuthenticator) signOut(w http.ResponseWriter, r *http.Request) {
	d.sessions.signOutBrowser(r)
	d.setCookie(w, r, "", -time.Second)
	http.Redirect(w, r, page.RootPath+"enter", http.StatusSeeOther)
}

// signedInPage returns a page that opens the memory at targetPath. It contains a link, which the browser also follows
// by itself.
//
// A redirect status would not work for a person who comes from another site. The cookie has SameSite=Strict, so the
// browser sends it only if the request comes from a page of this site.
func signedInPage(targetPath string) page.PageWithoutNavigation {
	return page.PageWithoutNavigation{
		Title:      "Signed in",
		RedirectTo: page.RootPath + targetPath,
		Body:       []g.Node{h.P(h.A(h.Href(page.RootPath+targetPath), h.Text("Open the memory")))},
	}
}

func signInPage(problem string, status int) page.PageWithoutNavigation {
	return page.PageWithoutNavigation{Title: "Sign in", Status: status, Body: []g.Node{
		g.If(problem != "", page.Notice("error", problem, "")),
		h.P(
			h.Text("Run "),
			h.Code(h.Text("oxbow ui")),
			h.Text(
				" in a terminal to open this page without a token. If you have a token of this server, enter it here.",
			),
		),
		h.Form(h.Method("post"), h.Action(page.RootPath+"enter"), h.Class("stack"),
			h.Label(h.For("token"), h.Text("Token")),
			h.Input(
				h.ID("token"),
				h.Name("token"),
				h.Type("password"),
				h.Required(),
				h.AutoComplete("current-password"),
			),
			h.Button(h.Class("main"), h.Text("Sign in"))),
	}}
}
