//! German, in a basic form. Its verb can be at the end of the clause.

use super::{Forms, NounOrder, TaskLanguage};

pub(super) const GERMAN: TaskLanguage = TaskLanguage {
    forms: Forms::German,
    head: NounOrder::Last,
    craft: "automatisieren, debuggen, implementieren, portieren, programmieren, refactoren, refaktorieren",
    change: "\
        abfangen, absichern, aktivieren, aktualisieren, anbinden, anlegen, anpassen, aufräumen, aufteilen, \
        auslagern, austauschen, bauen, behandeln, beheben, beschleunigen, brauchen, deaktivieren, einbauen, \
        einbinden, einführen, entfernen, entwickeln, entwickle, ergänzen, erhöhen, ersetzen, erstellen, \
        erweitern, extrahieren, filtern, fixen, formatieren, fügen, generieren, hinzufügen, integrieren, \
        konfigurieren, konvertieren, korrigieren, kürzen, löschen, lösen, machen, migrieren, nachrüsten, \
        optimieren, reduzieren, reparieren, schreiben, sortieren, speichere, speichern, umbenennen, umschreiben, \
        umstellen, umwandeln, unterstützen, validiere, validieren, verbessere, verbessern, vereinfachen, \
        verkleinern, vermeiden, verringern, verschiebe, verschieben, ändere, ändern",
    translate: "übersetzen",
    leave: "\
        analysieren, antworten, auflisten, ausführen, ausrollen, beschreiben, bewerten, buchen, dokumentieren, \
        empfehlen, entwerfen, erklären, erläutern, fassen, finden, installieren, lesen, lies, planen, prüfen, \
        recherchieren, sag, sagen, schätzen, senden, starten, suchen, testen, untersuchen, vergleichen, \
        vorbereiten, vorschlagen, zeigen, zusammenfassen, öffnen, überprüfen",
    code: "\
        abfrage, abfragen, abhängigkeit, abhängigkeiten, absturz, anfrage, anmeldung, antwort, anwendung, app, \
        ausdruck, ausnahme, befehl, befehle, bibliothek, bug, build, code, datenbank, dienst, dienste, eingabe, \
        eingabefeld, export, fehler, feld, formular, formulare, funktion, funktionen, import, importe, index, \
        klasse, klassen, knopf, knöpfe, komponente, komponenten, konfiguration, laufzeit, leistung, logik, menü, \
        methode, methoden, migration, modul, module, option, paket, pakete, parameter, parser, quellcode, \
        schaltfläche, schaltflächen, schleife, schnittstelle, seite, seiten, sitzung, spalte, spalten, \
        speicherleck, speicherverbrauch, spiel, suche, suchfeld, tabelle, tabellen, test, tests, validierung, \
        variable, variablen, warnung, warnungen, web-app, webseite",
    other: "\
        angebot, anleitung, anschreiben, artikel, aufsatz, bericht, beschreibung, besprechung, bild, \
        blogartikel, brief, budget, dokument, dokumentation, e-mail, einführung, einladung, frage, gedicht, \
        geschichte, glossar, gutachten, handbuch, kalender, konzept, kurs, lebenslauf, liste, mail, nachricht, \
        notiz, notizen, plakat, plan, protokoll, prozess, präsentation, rechnung, rede, reise, rezept, \
        stellenanzeige, strategie, tagesordnung, termin, testplan, text, titel, treffen, umfrage, vertrag, \
        vorschlag, vortrag, werbetext, zusammenfassung, überschrift, übersetzung",
    stage: "film, hochzeit, konferenz, rede, theater, video",
    double: "programm, skript",
    topic: "für, ob, von, warum, wie, zu, zum, zur, über",
    place: "am, an, auf, aus, bei, beim, damit, das, dass, im, in, ins, mit, nach, ohne, wenn",
    join: "aber, danach, dann, und",
    lead: "auch, bitte, du, hallo, ich, jetzt, kannst, könntest, mal, mir, nur, uns, wir, zuerst",
    ask: "brauche",
    question: "ist, warum, was, welche, welcher, welches, wer, wie, wieso, wo",
    deny: "kein, keine, keinen, nicht, nie, ohne",
    everything: "code, dateien, nichts, quellcode",
    pronoun: "alles, das, es, ihn, sie",
    wish: "muss, müsste, soll, sollte",
    story: &[("als", "möchte ich"), ("als", "will ich")],
};
