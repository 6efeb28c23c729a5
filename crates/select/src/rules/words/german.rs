//! German, as far as it comes for little. Its verb may stand at the end of the clause.

use super::{Forms, Head, Tongue};

pub(super) const GERMAN: Tongue = Tongue {
    forms: Forms::German,
    head: Head::Last,
    craft: "refaktorieren, refactoren, implementieren, programmieren, debuggen, portieren, automatisieren",
    change: "\
        hinzufügen, fügen, ergänzen, beheben, fixen, reparieren, korrigieren, schreiben, umschreiben, erstellen, \
        anlegen, machen, bauen, entwickeln, entwickle, generieren, entfernen, löschen, umbenennen, verschieben, \
        extrahieren, aufteilen, ersetzen, austauschen, konvertieren, umwandeln, migrieren, umstellen, \
        aktualisieren, ändern, ändere, anpassen, erweitern, integrieren, anbinden, validieren, speichern, \
        speichere, aktivieren, deaktivieren, konfigurieren, optimieren, verbessern, verbessere, beschleunigen, \
        reduzieren, vereinfachen, aufräumen, formatieren, lösen, einbauen, brauchen, einführen, absichern, \
        vermeiden, verschiebe, sortieren, filtern, abfangen, behandeln, validiere, auslagern, kürzen, \
        verkleinern, erhöhen, verringern, nachrüsten, einbinden, unterstützen",
    translate: "übersetzen",
    leave: "\
        erklären, erläutern, prüfen, überprüfen, recherchieren, beschreiben, vergleichen, analysieren, \
        untersuchen, finden, suchen, auflisten, zeigen, sagen, sag, bewerten, schätzen, planen, lesen, lies, \
        dokumentieren, entwerfen, empfehlen, vorschlagen, fassen, zusammenfassen, starten, ausführen, ausrollen, \
        buchen, antworten, senden, vorbereiten, installieren, öffnen, testen",
    code: "\
        code, quellcode, funktion, funktionen, methode, methoden, klasse, klassen, modul, paket, komponente, \
        komponenten, bibliothek, schnittstelle, dienst, datenbank, abfrage, index, fehler, absturz, ausnahme, \
        test, tests, abhängigkeit, abhängigkeiten, parser, variable, variablen, parameter, feld, logik, \
        validierung, anmeldung, suche, befehl, anwendung, app, webseite, seite, knopf, schaltfläche, formular, \
        konfiguration, spiel, skript, programm, option, leistung, bug, speicherleck, migration, tabelle, spalte, \
        ausdruck, build, import, importe, tabellen, spalten, seiten, formulare, knöpfe, module, pakete, dienste, \
        abfragen, befehle, web-app, anfrage, antwort, sitzung, schaltflächen, suchfeld, eingabe, eingabefeld, \
        menü, export, speicherverbrauch, laufzeit, warnung, warnungen, schleife",
    other: "\
        artikel, blogartikel, text, brief, nachricht, bericht, zusammenfassung, dokumentation, dokument, \
        anleitung, vorschlag, plan, testplan, strategie, prozess, treffen, besprechung, liste, budget, \
        präsentation, bild, vertrag, beschreibung, stellenanzeige, frage, kurs, übersetzung, rechnung, \
        einladung, protokoll, rede, konzept, angebot, aufsatz, gedicht, geschichte, handbuch, glossar, plakat, \
        einführung, vortrag, termin, kalender, umfrage, gutachten, mail, e-mail, notiz, notizen, tagesordnung, \
        reise, rezept, lebenslauf, anschreiben, werbetext, überschrift, titel",
    stage: "film, video, rede, hochzeit, theater, konferenz",
    double: "programm, skript",
    topic: "über, für, von, zu, zum, zur, warum, wie, ob",
    place: "in, im, ins, aus, mit, nach, bei, beim, auf, an, am, dass, wenn, ohne, das, damit",
    join: "und, dann, danach, aber",
    lead: "bitte, kannst, könntest, du, mir, uns, auch, nur, jetzt, zuerst, hallo, ich, wir, mal",
    ask: "brauche",
    question: "was, warum, wieso, wie, wo, wer, welche, welcher, welches, ist",
    deny: "nicht, kein, keine, keinen, ohne, nie",
    everything: "code, nichts, dateien, quellcode",
    pronoun: "es, ihn, sie, das, alles",
    wish: "soll, sollte, muss, müsste",
    story: &[("als", "möchte ich"), ("als", "will ich")],
};
