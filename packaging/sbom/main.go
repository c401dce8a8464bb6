// Command sbom writes what a Go program was built from, as SPDX 2.3 in JSON: the modules that the
// program itself names, as `go version -m` shows them.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

type document struct {
	Version   string         `json:"spdxVersion"`
	License   string         `json:"dataLicense"`
	ID        string         `json:"SPDXID"`
	Name      string         `json:"name"`
	Namespace string         `json:"documentNamespace"`
	Creation  creation       `json:"creationInfo"`
	Packages  []spdxPackage  `json:"packages"`
	Relations []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	ID        string     `json:"SPDXID"`
	Name      string     `json:"name"`
	Version   string     `json:"versionInfo"`
	Download  string     `json:"downloadLocation"`
	Analyzed  bool       `json:"filesAnalyzed"`
	Concluded string     `json:"licenseConcluded"`
	Declared  string     `json:"licenseDeclared"`
	Copyright string     `json:"copyrightText"`
	Checksums []checksum `json:"checksums,omitempty"`
	Refs      []ref      `json:"externalRefs,omitempty"`
	Comment   string     `json:"comment,omitempty"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type ref struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom PROGRAM VERSION")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func write(program, version string) error {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", " ")
	return out.Encode(describe(info, sha256.Sum256(data), version, time.Unix(seconds, 0).UTC()))
}

// describe is the document of a program with this hash.
func describe(info *buildinfo.BuildInfo, sum [sha256.Size]byte, version string, at time.Time) document {
	d := document{Version: "SPDX-2.3", License: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: info.Main.Path + "-" + version,
		Namespace: "https://memdesk.invalid/spdx/" + info.Main.Path + "-" + version + "-" + hex.EncodeToString(sum[:8]),
		Creation:  creation{at.Format(time.RFC3339), []string{"Tool: memdesk packaging/sbom"}}}
	unknown := func(id, name, version string) spdxPackage {
		return spdxPackage{ID: id, Name: name, Version: version, Download: "NOASSERTION", Concluded: "NOASSERTION", Declared: "NOASSERTION", Copyright: "NOASSERTION"}
	}
	main := unknown("SPDXRef-program", info.Main.Path, version)
	main.Checksums = []checksum{{"SHA256", hex.EncodeToString(sum[:])}}
	var settings []string
	for _, s := range info.Settings {
		settings = append(settings, s.Key+"="+s.Value)
	}
	main.Comment = "built by " + info.GoVersion + " with " + strings.Join(settings, " ")
	std := unknown("SPDXRef-go", "go", strings.TrimPrefix(info.GoVersion, "go"))
	d.Packages = []spdxPackage{main, std}
	d.Relations = []relationship{{d.ID, "DESCRIBES", main.ID}, {main.ID, "DEPENDS_ON", std.ID}}
	for i, m := range info.Deps {
		p := modulePackage(unknown(fmt.Sprintf("SPDXRef-module-%d", i+1), m.Path, m.Version), m)
		d.Packages = append(d.Packages, p)
		d.Relations = append(d.Relations, relationship{main.ID, "DEPENDS_ON", p.ID})
	}
	return d
}

// modulePackage adds what a module is known by. A replaced module is the one that takes its place.
func modulePackage(p spdxPackage, m *debug.Module) spdxPackage {
	if m.Replace != nil {
		p.Comment = "in place of " + m.Path + " " + m.Version
		m = m.Replace
		p.Name, p.Version = m.Path, m.Version
	}
	p.Refs = []ref{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + m.Path + "@" + m.Version}}
	if h, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(h) > 0 {
		p.Comment = strings.TrimPrefix(p.Comment+"; module hash "+m.Sum, "; ")
	}
	return p
}
