// Parameters: what the fields of an In struct say of a verb's arguments.

package verb

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
)

// Param is one argument of a verb, as a door that is not JSON shows it.
type Param struct {
	Name       string   // in the JSON object, such as "max_tokens"
	Flag       string   // on a command line, without dashes, such as "max-tokens"; "" where it is an argument alone
	Short      string   // one letter for the flag, or ""
	Usage      string   // one sentence
	Value      string   // the word that stands for its value in a help, or ""
	Default    string   // on a command line, or ""
	Type       string   // "string", "integer", "number" or "boolean"; of one item when Repeatable
	Repeatable bool     // a list in the JSON object
	Required   bool     // the call fails without it
	Empty      bool     // "" is a value: a name in a file of another program
	Enum       []string // the only values, if there are only some
	Also       []string // other names that are understood in the JSON object
	Unlisted   bool     // understood, and left out of the schema: rare, or said by a filter as well

	index []int // of the field
}

// parts are what remember can clear.
var parts = []string{"project", "tags", "related_files", "confidence", "aliases"}

// ParamsOf returns the parameters of a verb that takes In. The tags of a field are
//
//	json        name; without omitempty the argument is required
//	jsonschema  what models read of it, in few words; what its name says is left out
//	also        other names that models guess, understood too
//	enum        the values, with commas; or "kind": those of an entry; or "part": what remember can clear
//	empty       "allowed" where an empty text is a value, and does not mean "not given"
//	schema      "-" where the schema leaves it out, though it is understood
//	flag        name of the flag where it is not the name with dashes; "-" where it is no flag
//	short       one letter for the flag
//	value       the word for its value in a help
//	default     its value on a command line
//	usage       one sentence for the help of a command line and for errors, where
//	            jsonschema is none
//
// What is wrong with the struct is a programmer's mistake and panics.
func ParamsOf[In any]() []Param { return paramsOf(reflect.TypeFor[In]()) }

func paramsOf(t reflect.Type) []Param {
	var ps []Param
	tag := map[string]string{}
	for _, f := range reflect.VisibleFields(t) {
		readTag(tag, string(f.Tag))
		name, opts, _ := strings.Cut(tag["json"], ",")
		if name == "-" || f.Anonymous {
			continue // of an embedded struct, the fields are parameters
		}
		p := Param{Name: name, Flag: cmp.Or(tag["flag"], strings.ReplaceAll(name, "_", "-")), Short: tag["short"],
			Usage: cmp.Or(tag["usage"], tag["jsonschema"]),
			Value: tag["value"], Default: tag["default"], Required: !strings.Contains(opts, "omitempty"),
			Empty: tag["empty"] != "", Enum: enumOf(tag["enum"]), Unlisted: tag["schema"] == "-", index: f.Index}
		if p.Flag == "-" {
			p.Flag = ""
		}
		if a := tag["also"]; a != "" {
			p.Also = strings.Split(a, ",")
		}
		p.Type, p.Repeatable = typeOf(f.Type)
		if p.Type == "" {
			panic(fmt.Sprintf("tool: parameter %s of %v has a type that no door can show", name, t))
		}
		ps = append(ps, p)
	}
	return ps
}

// readTag makes values the keys and values of a field's tag, read once: every start of
// a command line does it for all verbs, and [reflect.StructTag.Get] reads for each key.
func readTag(values map[string]string, tag string) {
	clear(values)
	for {
		key, rest, _ := strings.Cut(strings.TrimLeft(tag, " "), ":")
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return // the end: go vet refuses others
		}
		values[key], _ = strconv.Unquote(quoted)
		tag = rest[len(quoted):]
	}
}

func enumOf(tag string) []string {
	switch tag {
	case "":
		return nil
	case "kind":
		var kinds []string
		for _, k := range oxbow.Kinds() {
			kinds = append(kinds, k.String())
		}
		return kinds
	case "part":
		return slices.Clone(parts)
	}
	return strings.Split(tag, ",")
}

// typeOf returns the type of a parameter that has a field of that type.
func typeOf(t reflect.Type) (name string, repeatable bool) {
	switch t.Kind() {
	case reflect.Slice:
		repeatable, t = true, t.Elem()
	case reflect.Pointer:
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		name = "string"
	case reflect.Bool:
		name = "boolean"
	case reflect.Int, reflect.Uint64:
		name = "integer"
	case reflect.Float64:
		name = "number"
	}
	return name, repeatable
}

// put sets the field of the parameter in a struct, or adds to it.
func (p Param) put(in reflect.Value, value any) {
	f := in.FieldByIndex(p.index)
	switch f.Kind() {
	case reflect.Slice:
		f.Set(reflect.Append(f, reflect.ValueOf(value).Convert(f.Type().Elem())))
	case reflect.Pointer:
		f.Set(reflect.New(f.Type().Elem()))
		f.Elem().Set(reflect.ValueOf(value).Convert(f.Type().Elem()))
	default:
		f.Set(reflect.ValueOf(value).Convert(f.Type()))
	}
}

// Check refuses text that JSON cannot carry, and a required text that is empty,
// in the struct that in points to. The error calls the parameter so.
func (p Param) Check(in any, called string) error {
	f := reflect.ValueOf(in).Elem().FieldByIndex(p.index)
	switch {
	case p.Type != "string":
		return nil
	case p.Repeatable:
		for i := range f.Len() {
			if err := CheckText(called, f.Index(i).String()); err != nil {
				return err
			}
		}
		return nil
	case f.Kind() == reflect.Pointer:
		return nil
	case p.Required && !p.Empty && f.String() == "":
		return InvalidValue(p.Name, "", "is empty; "+lowerFirst(p.Usage))
	}
	return CheckText(called, f.String())
}

// CheckText refuses bytes that are not UTF-8: JSON would replace them without a
// word. The error calls the text so.
func CheckText(called, s string) error {
	if !utf8.ValidString(s) {
		return &oxbow.InvalidError{
			Field:  called,
			Reason: "is not UTF-8 text; convert it first, for example with iconv -t UTF-8",
		}
	}
	return nil
}
