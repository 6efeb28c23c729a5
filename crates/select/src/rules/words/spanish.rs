//! Spanish, in a basic form: words that it shares with Portuguese are there.

use super::{Forms, NounOrder, TaskLanguage};

pub(super) const SPANISH: TaskLanguage = TaskLanguage {
    forms: Forms::Romance,
    head: NounOrder::First,
    craft: "codificar, depurar, programar, refactorear, refactorizar",
    change: "\
        acelerar, actualizar, agrega, agregar, ajustar, arreglar, añade, añadir, borrar, cambia, cambiar, \
        conectar, configurar, construir, construye, convertir, convierte, corregir, corrige, corrija, corrijas, \
        crear, dame, desarrollar, deshabilitar, dividir, elimina, eliminar, escribas, escribir, extraer, \
        filtrar, generar, guardar, habilitar, hacer, haga, hagas, haz, integrar, limpiar, mejorar, migrar, \
        modificar, mover, necesitar, necesito, optimizar, ordenar, permitir, pon, poner, pongas, quiero, quitar, \
        reducir, reemplazar, reescribir, renombrar, reparar, resolver, separar, simplificar, sustituir, tocar, \
        unificar, usar, validar",
    translate: "traduce, traducir, traduzca",
    leave: "\
        abrir, analizar, auditar, buscar, cerrar, comparar, comprobar, decir, describir, desplegar, dime, \
        diseñar, documentar, ejecutar, encontrar, encuentra, enviar, estimar, evaluar, explicar, instalar, \
        investigar, lee, leer, listar, mirar, mostrar, muestra, organizar, planificar, preparar, proponer, \
        recomendar, redactar, reiniciar, reservar, responder, resume, resumir, revisar, sugerir, verificar",
    code: "\
        animación, aplicaciones, aplicación, archivo de configuración, autenticación, base de datos, biblioteca, \
        botón, bucle, campo, carrito, clase, columna, comando, componente, configuración, consulta, código, \
        dependencia, error, errores, evento, excepción, expresión regular, extensión, fallo, filtro, formulario, \
        funciones, función, juego, librería, lógica, menú, método, módulo, notificación, paginación, pantalla, \
        paquete, parámetro, prueba, prueba unitaria, pruebas unitarias, página, rendimiento, respuesta, ruta, \
        servicio, servidor, sesión, sitio, solicitud, tabla, validación, variable, índice",
    other: "\
        acta, agenda, artículo, calendario, carta, cartel, certificado, charla, contrato, correo, cuento, curso, \
        descripción, discurso, documentación, documento, encuesta, ensayo, estrategia, factura, folleto, \
        glosario, guion, guía, guía de usuario, imagen, informe, introducción, lista, mensaje, nota, notas, \
        opinión, plan, plan de pruebas, poema, política, pregunta, presentación, presupuesto, proceso, \
        propuesta, receta, recibo, resumen, reunión, tesis, texto, traducción, viaje, vuelo",
    stage: "boda, discurso, obra, película",
    double: "",
    topic: "acerca, para, sobre",
    place: "al, con, cuando, de, del, desde, donde, en, por, que, sin",
    join: "después, luego, pero, y",
    lead: "ahora, favor, hola, me, podrías, por, primero, puedes, solo, sólo, también",
    ask: "necesito, quiero",
    question: "cuál, cuáles, cuándo, cuánto, cómo, dónde, por qué, quién, qué",
    deny: "no, nunca, sin",
    everything: "archivos, código, nada",
    pronoun: "eso, esto, la, lo, todo",
    wish: "debe, debería, tiene que",
    story: &[("como", "quiero"), ("como", "necesito")],
};
