// This file wraps each element and each attribute of package gomponents in a function that is not inlined.

// Package tag builds HTML elements with the functions of package gomponents, and keeps the compiler from inlining
// them. An inlined call contains a copy of a closure, so the 1,500 calls in the pages would make the program 3 MB
// larger.
package tag

import (
	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"
)

//go:noinline
func Text(s string) g.Node { return g.Text(s) }

//go:noinline
func Textf(format string, args ...any) g.Node { return g.Textf(format, args...) }

//go:noinline
func El(name string, children ...g.Node) g.Node { return g.El(name, children...) }

//go:noinline
func Attr(name string, value ...string) g.Node { return g.Attr(name, value...) }

//go:noinline
func A(children ...g.Node) g.Node { return html.A(children...) }

//go:noinline
func Action(v string) g.Node { return html.Action(v) }

//go:noinline
func Aria(name, v string) g.Node { return html.Aria(name, v) }

//go:noinline
func Aside(children ...g.Node) g.Node { return html.Aside(children...) }

//go:noinline
func AutoComplete(v string) g.Node { return html.AutoComplete(v) }

//go:noinline
func BlockQuote(children ...g.Node) g.Node { return html.BlockQuote(children...) }

//go:noinline
func Body(children ...g.Node) g.Node { return html.Body(children...) }

//go:noinline
func Br(children ...g.Node) g.Node { return html.Br(children...) }

//go:noinline
func Button(children ...g.Node) g.Node { return html.Button(children...) }

//go:noinline
func Charset(v string) g.Node { return html.Charset(v) }

//go:noinline
func Class(v string) g.Node { return html.Class(v) }

//go:noinline
func Code(children ...g.Node) g.Node { return html.Code(children...) }

//go:noinline
func Content(v string) g.Node { return html.Content(v) }

//go:noinline
func DateTime(v string) g.Node { return html.DateTime(v) }

//go:noinline
func Dd(children ...g.Node) g.Node { return html.Dd(children...) }

//go:noinline
func Details(children ...g.Node) g.Node { return html.Details(children...) }

//go:noinline
func Dir(v string) g.Node { return html.Dir(v) }

//go:noinline
func Div(children ...g.Node) g.Node { return html.Div(children...) }

//go:noinline
func Dl(children ...g.Node) g.Node { return html.Dl(children...) }

//go:noinline
func Doctype(sibling g.Node) g.Node { return html.Doctype(sibling) }

//go:noinline
func Dt(children ...g.Node) g.Node { return html.Dt(children...) }

//go:noinline
func Em(children ...g.Node) g.Node { return html.Em(children...) }

//go:noinline
func FieldSet(children ...g.Node) g.Node { return html.FieldSet(children...) }

//go:noinline
func FigCaption(children ...g.Node) g.Node { return html.FigCaption(children...) }

//go:noinline
func Figure(children ...g.Node) g.Node { return html.Figure(children...) }

//go:noinline
func Footer(children ...g.Node) g.Node { return html.Footer(children...) }

//go:noinline
func For(v string) g.Node { return html.For(v) }

//go:noinline
func Form(children ...g.Node) g.Node { return html.Form(children...) }

//go:noinline
func FormAction(v string) g.Node { return html.FormAction(v) }

//go:noinline
func H1(children ...g.Node) g.Node { return html.H1(children...) }

//go:noinline
func H2(children ...g.Node) g.Node { return html.H2(children...) }

//go:noinline
func H3(children ...g.Node) g.Node { return html.H3(children...) }

//go:noinline
func HTML(children ...g.Node) g.Node { return html.HTML(children...) }

//go:noinline
func Head(children ...g.Node) g.Node { return html.Head(children...) }

//go:noinline
func Header(children ...g.Node) g.Node { return html.Header(children...) }

//go:noinline
func Hr(children ...g.Node) g.Node { return html.Hr(children...) }

//go:noinline
func Href(v string) g.Node { return html.Href(v) }

//go:noinline
func ID(v string) g.Node { return html.ID(v) }

//go:noinline
func Input(children ...g.Node) g.Node { return html.Input(children...) }

//go:noinline
func Kbd(children ...g.Node) g.Node { return html.Kbd(children...) }

//go:noinline
func Label(children ...g.Node) g.Node { return html.Label(children...) }

//go:noinline
func Lang(v string) g.Node { return html.Lang(v) }

//go:noinline
func Legend(children ...g.Node) g.Node { return html.Legend(children...) }

//go:noinline
func Li(children ...g.Node) g.Node { return html.Li(children...) }

//go:noinline
func Link(children ...g.Node) g.Node { return html.Link(children...) }

//go:noinline
func Main(children ...g.Node) g.Node { return html.Main(children...) }

//go:noinline
func Mark(children ...g.Node) g.Node { return html.Mark(children...) }

//go:noinline
func Max(v string) g.Node { return html.Max(v) }

//go:noinline
func Meta(children ...g.Node) g.Node { return html.Meta(children...) }

//go:noinline
func Method(v string) g.Node { return html.Method(v) }

//go:noinline
func Min(v string) g.Node { return html.Min(v) }

//go:noinline
func Name(v string) g.Node { return html.Name(v) }

//go:noinline
func Nav(children ...g.Node) g.Node { return html.Nav(children...) }

//go:noinline
func Ol(children ...g.Node) g.Node { return html.Ol(children...) }

//go:noinline
func Option(children ...g.Node) g.Node { return html.Option(children...) }

//go:noinline
func P(children ...g.Node) g.Node { return html.P(children...) }

//go:noinline
func Placeholder(v string) g.Node { return html.Placeholder(v) }

//go:noinline
func Pre(children ...g.Node) g.Node { return html.Pre(children...) }

//go:noinline
func Rel(v string) g.Node { return html.Rel(v) }

//go:noinline
func Required() g.Node { return html.Required() }

//go:noinline
func Role(v string) g.Node { return html.Role(v) }

//go:noinline
func Rows(v string) g.Node { return html.Rows(v) }

//go:noinline
func Scope(v string) g.Node { return html.Scope(v) }

//go:noinline
func Script(children ...g.Node) g.Node { return html.Script(children...) }

//go:noinline
func Section(children ...g.Node) g.Node { return html.Section(children...) }

//go:noinline
func Select(children ...g.Node) g.Node { return html.Select(children...) }

//go:noinline
func Selected() g.Node { return html.Selected() }

//go:noinline
func Span(children ...g.Node) g.Node { return html.Span(children...) }

//go:noinline
func Src(v string) g.Node { return html.Src(v) }

//go:noinline
func Strong(children ...g.Node) g.Node { return html.Strong(children...) }

//go:noinline
func Summary(children ...g.Node) g.Node { return html.Summary(children...) }

//go:noinline
func TBody(children ...g.Node) g.Node { return html.TBody(children...) }

//go:noinline
func THead(children ...g.Node) g.Node { return html.THead(children...) }

//go:noinline
func TabIndex(v string) g.Node { return html.TabIndex(v) }

//go:noinline
func Table(children ...g.Node) g.Node { return html.Table(children...) }

//go:noinline
func Td(children ...g.Node) g.Node { return html.Td(children...) }

//go:noinline
func Textarea(children ...g.Node) g.Node { return html.Textarea(children...) }

//go:noinline
func Th(children ...g.Node) g.Node { return html.Th(children...) }

//go:noinline
func Time(children ...g.Node) g.Node { return html.Time(children...) }

//go:noinline
func Title(v string) g.Node { return html.Title(v) }

//go:noinline
func TitleEl(children ...g.Node) g.Node { return html.TitleEl(children...) }

//go:noinline
func Tr(children ...g.Node) g.Node { return html.Tr(children...) }

//go:noinline
func Type(v string) g.Node { return html.Type(v) }

//go:noinline
func Ul(children ...g.Node) g.Node { return html.Ul(children...) }

//go:noinline
func Value(v string) g.Node { return html.Value(v) }
