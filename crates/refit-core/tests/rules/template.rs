//! R12: templates of messages, in each way that a text is written.

use super::support::*;

fn automation(template: &str) -> String {
    format!(
        "apiVersion: image.toolkit.fluxcd.io/v1beta2\nkind: ImageUpdateAutomation\nspec:\n  git:\n    commit:\n      messageTemplate: {template}      author: {{email: a@b}}\n"
    )
}

#[track_caller]
fn check(before: &str, after: &str) {
    check_convert("v1", &automation(before), &automation(after).replace("v1beta2", "v1"));
}

#[test]
fn r12_a_template_is_rewritten_in_its_own_style() {
    let (old, new) = (
        "{{ range .Updated.Images }}{{ println . }}{{ end }}",
        "{{ range .Changed.Changes }}{{ println .OldValue \"->\" .NewValue }}{{ end }}",
    );
    for (before, after) in [
        (format!("'{old}' # c\n"), format!("'{new}' # c\n")),
        (format!("\"{old}\"\n"), format!("\"{}\"\n", new.replace('"', "\\\""))),
        (format!("x {old}\n"), format!("x {new}\n")),
        (
            format!("| # why\n        a\n\n        {old}\n        b\n"),
            format!("| # why\n        a\n\n        {new}\n        b\n"),
        ),
        (format!("|-\n        {old}\n"), format!("|-\n        {new}\n")),
        (
            format!(">\n        a\n        {old}\n\n        b\n"),
            format!(">\n        a\n        {new}\n\n        b\n"),
        ),
        (format!(">-\n        {old}\n"), format!(">-\n        {new}\n")),
    ] {
        check(&before, &after);
    }
}

#[test]
fn r12_the_template_of_the_guide_is_rewritten() {
    check(
        "|-\n        Automated image update\n\n        Automation name: {{ .AutomationObject }}\n\n        Files:\n        {{ range $filename, $_ := .Updated.Files -}}\n        - {{ $filename }}\n        {{ end -}}\n\n        Objects:\n        {{ range $resource, $_ := .Updated.Objects -}}\n        - {{ $resource.Kind }} {{ $resource.Name }}\n        {{ end -}}\n\n        Images:\n        {{ range .Updated.Images -}}\n        - {{.}}\n        {{ end -}}\n",
        "|-\n        Automated image update\n\n        Automation name: {{ .AutomationObject }}\n\n        Files:\n        {{ range $filename, $_ := .Changed.FileChanges -}}\n        - {{ $filename }}\n        {{ end -}}\n\n        Objects:\n        {{ range $resource, $_ := .Changed.Objects -}}\n        - {{ $resource.Kind }} {{ $resource.Name }}\n        {{ end -}}\n\n        Images:\n        {{ range .Changed.Changes -}}\n        - {{ .OldValue }} -> {{ .NewValue }}\n        {{ end -}}\n",
    );
}

#[test]
fn r12_what_is_not_certain_is_for_review_and_the_version_is_raised_all_the_same() {
    let before = automation("|\n        {{ range .Updated.Images }}{{ .Repository }}{{ end }}\n");
    let (text, converted) = run("v1", &before);
    assert_eq!(text, before.replace("v1beta2", "v1"));
    check_told(&converted, "`{{ .Repository }}` cannot be rewritten with certainty");
    let (_, converted) = run("v1", &automation("'{{ range .Updated.Images }}{{ . }}{{ end }}'\n"));
    check_told(&converted, "read the message that it makes");
}

#[test]
fn r12_follows_r11_into_the_new_place() {
    let before = "apiVersion: image.toolkit.fluxcd.io/v1alpha1\nkind: ImageUpdateAutomation\nspec:\n  commit:\n    messageTemplate: |\n      {{ range .Updated.Images }}{{ . }}{{ end }}\n";
    let after = "apiVersion: image.toolkit.fluxcd.io/v1\nkind: ImageUpdateAutomation\nspec:\n  git:\n    commit:\n      messageTemplate: |\n        {{ range .Changed.Changes }}{{ .OldValue }} -> {{ .NewValue }}{{ end }}\n";
    check_text("v1", before, after);
}
