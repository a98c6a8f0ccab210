// This file finds mail addresses.

package personal

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// These are the maximum lengths of a mail address in bytes (RFC 5321, 4.5.3.1).
const (
	maxLocalPartBytes = 64
	maxDomainBytes    = 255
)

// maxTopLevelDomainLetters is the maximum number of letters of a top-level domain. The longest existing one has 18.
const maxTopLevelDomainLetters = 24

// atSignForms contains the forms of the at sign: the plain sign, its encoding in a URL, and the full-width sign.
var atSignForms = []string{"@", "%40", "＠"}

// findMailAddresses returns the mail addresses in a text that may belong to a person, in order of position. The
// findings do not overlap.
func findMailAddresses(text string) []Finding {
	var found []Finding
	for _, sign := range atSignForms {
		lastEnd := 0 // end of the previous mail address in the text
		for signPos := 0; ; {
			i := strings.Index(text[signPos:], sign)
			if i < 0 {
				break
			}
			signPos += i
			start, end := findLocalPartStart(text[lastEnd:signPos])+lastEnd, findDomainEnd(text, signPos+len(sign))
			isAddress := start < signPos && end > 0
			if isAddress && isPersonalAddress(text, start, signPos, signPos+len(sign), end) {
				found = append(found, Finding{kindMail, start, end})
				lastEnd = end
			}
			signPos += len(sign)
		}
	}
	return removeOverlappingFindings(found)
}

// isLetter reports whether a character can be a letter of a mail address. Letters of scripts that are written without
// spaces do not belong to an address.
func isLetter(c rune) bool {
	switch {
	case c < utf8.RuneSelf:
		return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
	case c < 0xE00:
		return unicode.IsLetter(c) || unicode.Is(unicode.Mn, c)
	}
	return false
}

func isDigit(c rune) bool { return c >= '0' && c <= '9' }

// isLocalPartChar reports whether the local part of a mail address may contain the character c.
func isLocalPartChar(c rune) bool {
	return isLetter(c) || isDigit(c) || strings.ContainsRune("._+-'", c)
}

// isDomainLabelChar reports whether a label of a domain may contain the character c. The first character of a label
// cannot be a hyphen.
func isDomainLabelChar(c rune, isFirst bool) bool {
	return isLetter(c) || isDigit(c) || (c == '-' && !isFirst)
}

// findLocalPartStart returns the start of the local part in the text before an at sign. If the local part is missing or
// too long, findLocalPartStart returns len(textBeforeAt).
func findLocalPartStart(textBeforeAt string) int {
	i := len(textBeforeAt)
	for i > 0 {
		c, n := utf8.DecodeLastRuneInString(textBeforeAt[:i])
		if !isLocalPartChar(c) {
			break
		}
		i -= n
		if len(textBeforeAt)-i > maxLocalPartBytes {
			return len(textBeforeAt)
		}
	}
	for i < len(textBeforeAt) && strings.IndexByte(".-+'", textBeforeAt[i]) >= 0 {
		i++
	}
	if i < len(textBeforeAt) && strings.HasSuffix(textBeforeAt, ".") {
		return len(textBeforeAt)
	}
	return i
}

// findDomainEnd returns the end of the domain that begins at position start. If no domain begins there, findDomainEnd
// returns 0. A domain has at least two labels, and its last label can be a top-level domain. A period after the domain
// does not belong to it. A domain may be longer than in valid addresses, so that no part of it remains when addresses
// are removed.
func findDomainEnd(text string, start int) int {
	end := 0
	label := start
	labels := 0
	i := start
	for i < len(text) {
		c, n := utf8.DecodeRuneInString(text[i:])
		if c == '.' {
			if i == label {
				break
			}
			label, labels = i+1, labels+1
		} else if !isDomainLabelChar(c, i == label) {
			break
		}
		i += n
		if labels > 0 && isTopLevelDomain(text[label:i]) {
			end = i
		} else if labels > 0 && i > label {
			end = 0
		}
	}
	return end
}

// isTopLevelDomain reports whether a label can be a top-level domain. Such a label consists of 2 to 24 letters, or
// begins with xn--, which stands for letters that are not ASCII.
func isTopLevelDomain(label string) bool {
	letters := 0
	for _, c := range label {
		if !isLetter(c) {
			return strings.HasPrefix(label, "xn--")
		}
		letters++
		if letters > maxTopLevelDomainLetters {
			return false
		}
	}
	return letters >= 2
}

// These are parts of mail addresses that do not belong to a person: programs' local parts, local parts and domains
// that are used in examples, and top-level domains that nobody can own (RFC 2606, RFC 6762) or that are file name
// extensions.
var (
	programUserNames = []string{"git", "hg", "svn", "root", "mailer-daemon", "notifications", "postmaster", "bounce",
		"bounces", "actions"}
	placeholderNames = []string{"user", "username", "you", "me", "name", "your", "yourname", "your.name", "your-name",
		"your_name", "your-email", "your_email", "youremail", "myemail", "my-email", "my_email",
		"someone", "somebody", "foo", "bar", "baz", "test", "email", "mail", "admin", "info", "support", "contact",
		"hello", "sales", "team", "x", "a", "b",
		"first.last", "firstname.lastname"}
	exampleDomains = []string{"example.com", "example.net", "example.org", "example.edu", "domain.com", "email.com",
		"mail.com", "company.com", "host.com", "acme.com"}
	reservedTopDomains = []string{
		"example",
		"invalid",
		"test",
		"localhost",
		"local",
		"internal",
		"lan",
		"png",
		"jpg",
		"jpeg",
		"gif",
		"svg",
		"webp",
		"css",
		"js",
		"ts",
		"json",
		"yaml",
		"yml",
		"toml",
		"xml",
		"html",
		"txt",
		"md",
		"go",
		"py",
		"lock",
		"log",
		"service",
		"socket",
		"timer",
		"target",
		"mount",
		"slice",
	}
)

// isPersonalAddress reports whether a mail address may belong to a person. The local part of the address is
// text[start:atSign], and the domain is text[domain:end]. Addresses of programs, addresses in examples, and addresses
// to which nobody can reply do not belong to a person. The same holds for a user name in a URL or in a path on a host,
// which only looks like a mail address.
func isPersonalAddress(text string, start, atSign, domain, end int) bool {
	local, host := strings.ToLower(text[start:atSign]), strings.ToLower(text[domain:end])
	top := host[strings.LastIndexByte(host, '.')+1:]
	switch {
	case endsWithURLUser(text[max(0, atSign-maxDomainBytes):atSign]):
		return false
	case strings.HasPrefix(text[end:], ":/"), strings.HasPrefix(text[end:], ":~"): // The text is a path on a host.
		return false
	case slices.Contains(programUserNames, local) || slices.Contains(reservedTopDomains, top):
		return false
	case slices.Contains(exampleDomains, host) && slices.Contains(placeholderNames, local):
		return false
	case strings.Contains(host, "noreply") || strings.HasSuffix(local, "noreply"),
		strings.HasSuffix(local, "no-reply"),
		strings.Contains(local, "donotreply"),
		strings.Contains(local, "do-not-reply"):
		return false
	}
	return true
}

// endsWithURLUser reports whether the text before an at sign ends with the user and password of a URL.
func endsWithURLUser(textBeforeAt string) bool {
	i := strings.LastIndex(textBeforeAt, "://")
	return i >= 0 && !strings.ContainsAny(textBeforeAt[i+len("://"):], "/?# \t\n")
}
