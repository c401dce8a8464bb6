package crewship

import "strings"

// expression turns a query into the FTS5 expression that Crewship makes of it
// (crewship-disk.md, Query to expression).
func expression(query string) string {
	query = strings.TrimSpace(query)
	if !strings.ContainsAny(query, "{}:^~()+") {
		for _, sign := range []string{" AND ", " OR ", " NOT ", `"`, "*"} {
			if strings.Contains(query, sign) {
				return query
			}
		}
		return anyOf(query)
	}
	query = strings.Map(func(r rune) rune {
		if strings.ContainsRune("{}:^~()+", r) {
			return ' '
		}
		return r
	}, query)
	words := strings.Fields(query)
	operators := strings.Contains(query, "*")
	for i, w := range words {
		if up := strings.ToUpper(w); up == "AND" || up == "OR" || up == "NOT" {
			words[i], operators = up, true
			continue
		}
		base, prefix := strings.CutSuffix(w, "*")
		if words[i] = quoted(strings.ReplaceAll(base, "*", "")); prefix {
			words[i] += "*"
		}
	}
	if operators {
		return strings.Join(words, " ")
	}
	return anyOf(query)
}

// anyOf finds rows with any of the words, and ranks the whole phrase highest. Stop
// words count only when there are no others.
func anyOf(query string) string {
	var all, kept []string
	for w := range strings.FieldsSeq(query) {
		if w = strings.ReplaceAll(w, `"`, ""); w == "" {
			continue
		}
		all = append(all, w)
		if !stopWords[strings.ToLower(w)] {
			kept = append(kept, w)
		}
	}
	if len(kept) == 0 {
		kept = all
	}
	if len(kept) < 2 {
		return quoted(strings.Join(kept, ""))
	}
	terms := []string{quoted(strings.Join(kept, " "))}
	for _, w := range kept {
		terms = append(terms, quoted(w))
	}
	return strings.Join(terms, " OR ")
}

func quoted(w string) string { return `"` + strings.ReplaceAll(w, `"`, "") + `"` }

var stopWords = func() map[string]bool {
	const words = `a about after an and any are as at be but by did do does for from how i if in is it of on or should
that the then there this to was we were what when where which who why with
aby ale ani až co další je jak jako jsem jsme jsou již k kde která které který na nebo než o po pro při s se si
tak také u už v ve z za že`
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}()
