//! Results side by side for a terminal, and as a page.

use crate::render::{distinct, find, keys, machine, size};
use crate::results::Results;
use std::fmt::Write as _;

/// A row per pattern, element type and size; of each backend the time of a call, by the device's clock where it has one, and the rate.
#[must_use]
pub fn side_by_side(all: &[Results]) -> String {
    let mut text = String::new();
    for m in all.iter().flat_map(|r| &r.machines) {
        let _ = writeln!(text, "{}", machine(m).replace('`', ""));
    }
    let backends = backends(all);
    let _ = write!(text, "\n{:<32} {:<5} {:>7}", "pattern", "type", "n");
    for b in &backends {
        let _ = write!(text, " {:>14} {:>6}", format!("{b}: us"), "GB/s");
    }
    text.push('\n');
    for (name, dtype, n) in keys(all) {
        let _ = write!(text, "{name:<32} {dtype:<5} {:>7}", size(n));
        for b in &backends {
            let _ = match find(all, b, name, dtype, n) {
                Some(m) => write!(text, " {:>14.1} {:>6.1}", m.device_s * 1e6, m.bytes_per_s / 1e9),
                None => write!(text, " {:>14} {:>6}", "-", "-"),
            };
        }
        text.push('\n');
    }
    text
}

/// The same as a page, with the drawing.
#[must_use]
pub fn html(all: &[Results], svg: &str) -> String {
    let backends = backends(all);
    let mut text = String::from(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>isowarp: patterns by backend</title>\n<style>\nbody { font-family: \
         sans-serif; margin: 2em }\ntable { border-collapse: collapse }\nth, td { border: 1px solid #ccc; padding: 0.2em 0.6em; text-align: right \
         }\nth:first-child, td:first-child { text-align: left }\n</style>\n<h1>Patterns by backend</h1>\n<ul>\n",
    );
    for m in all.iter().flat_map(|r| &r.machines) {
        let _ = writeln!(text, "<li>{}</li>", escaped(&machine(m).replace('`', "")));
    }
    text.push_str("</ul>\n<table>\n<tr><th>pattern</th><th>type</th><th>n</th>");
    for b in &backends {
        let _ = write!(text, "<th>{b}: us</th><th>GB/s</th><th>of copy</th>");
    }
    text.push_str("</tr>\n");
    for (name, dtype, n) in keys(all) {
        let _ = write!(text, "<tr><td>{}</td><td>{dtype}</td><td>{}</td>", escaped(name), size(n));
        for b in &backends {
            let _ = match find(all, b, name, dtype, n) {
                Some(m) => {
                    let of_copy = m.of_copy.map_or_else(|| "-".to_owned(), |share| format!("{share:.3}"));
                    write!(text, "<td>{:.2}</td><td>{:.1}</td><td>{of_copy}</td>", m.device_s * 1e6, m.bytes_per_s / 1e9)
                }
                None => write!(text, "<td>-</td><td>-</td><td>-</td>"),
            };
        }
        text.push_str("</tr>\n");
    }
    // A page takes the element without the declaration of a file.
    let drawing = svg.find("<svg").map_or("", |start| &svg[start..]);
    let _ = writeln!(text, "</table>\n{drawing}\n</html>");
    text
}

fn backends(all: &[Results]) -> Vec<&str> {
    distinct(all.iter().flat_map(|r| &r.measured).map(|m| m.backend.as_str()))
}

/// Names of devices come from their drivers.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Machine;
    use crate::{criterion, render};

    #[test]
    fn backends_stand_side_by_side_on_the_terminal_and_on_the_page() {
        let mut results = criterion::tests::written();
        let (backend, device) = ("wgpu".to_owned(), "<GPU> & Co.".to_owned());
        results.machines.push(Machine {
            backend,
            device,
            driver: "1".to_owned(),
            numerics: "strict".to_owned(),
            open_s: 0.1,
            own_open_s: None,
        });
        let results = [results];
        let table = side_by_side(&results);
        let row = table.lines().find(|l| l.starts_with("reduce/sum")).expect("a row");
        assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["reduce/sum", "f32", "2^16", "967.2", "0.3", "399.2", "0.7"]);
        assert!(table.starts_with("wgpu: <GPU> & Co. (1), numerics strict, opened in 100 ms\n"), "{table}");
        let page = html(&results, &render::svg(&results).expect("a drawing"));
        for part in
            ["<li>wgpu: &lt;GPU&gt; &amp; Co. (1)", "<th>cpu: us</th>", "<td>967.21</td><td>0.3</td><td>0.021</td>", "<svg", "</html>"]
        {
            assert!(page.contains(part), "{part} is not in {page}");
        }
        assert_eq!(page.matches("<tr>").count(), 3);
    }
}
